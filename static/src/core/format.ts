/** Numbers as a person reads them. The same text in every language, so that copied numbers parse everywhere. */

/** A relative error: "0", "4.1e-2", "1.5", "∞", "" when it was not measured. */
export function formatError(value: number): string {
  if (Number.isNaN(value)) return '';
  if (value === 0) return '0';
  if (!Number.isFinite(value)) return '∞';
  if (value >= 100) return value < 1e5 ? String(Math.round(value)) : value.toExponential(1).replace('e+', 'e');
  if (value >= 1) return value.toPrecision(2);
  return value.toExponential(1);
}

/** A statistic with 7 significant digits (float32 has no more), the minus a real minus sign. */
export function formatStatistic(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+∞' : '−∞';
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e15) return minus(String(value));
  const text = size >= 1e7 || size < 1e-4 ? value.toExponential(5).replace('e+', 'e') : String(Number(value.toPrecision(7)));
  return minus(text);
}

/** A factor with 4 significant digits, or as many as it takes to look different from 1. */
export function formatFactor(value: number): string {
  for (let digits = 4; digits < 17; digits++) {
    const shown = Number(value.toPrecision(digits));
    if (shown !== 1 || value === 1) return minus(String(shown));
  }
  return minus(String(value));
}

function minus(text: string): string {
  return text.replace(/^-/, '−');
}

/** How many digits a whole number has that is not negative. */
export function digitsOf(value: number): number {
  let count = 1;
  for (let rest = value; rest >= 10; rest /= 10) count++;
  return count;
}

/** A whole number with a comma between thousands. By hand: the first Intl.NumberFormat of a page costs 30 ms, before the first picture. */
export function formatCount(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',');
}

export function formatBytes(value: number): string {
  if (value < 1024) return `${value} B`;
  if (value < 1024 * 1024) return `${(value / 1024).toFixed(0)} KiB`;
  return `${(value / 1024 / 1024).toFixed(1)} MiB`;
}
