/** A logarithmic scale of colours for a number a node: fine enough to read as one gradient, its steps are classes like any other. */
import { colourClass, type ColourClass } from './colour_class';

/** From 10^exponent on 15 steps, a third of `decades` decades each; one step below and one above all of them. */
export interface Scale {
  readonly exponent: number;
  readonly decades: number;
}

/** Relative errors: 1e-5 (float32 rounding in a deep model) to 1 (nothing in common). */
export const RELATIVE_SCALE: Scale = { exponent: -5, decades: 1 };
export const FIRST_STEP = 4; // class of the lowest step: none, clean, expected and unmatched come before
const THIRDS = 3;
const SPAN = 5; // 1e-5 to 1
const TOP = SPAN * THIRDS + 1; // the step above all bounds
const NONFINITE = FIRST_STEP + TOP + 1;

/** Lower bound of step k, 1..16; rounded to one digit as a person would write it: 1, 2, 5, 10. */
export function boundOf(scale: Scale, step: number): number {
  return Number((10 ** (scale.exponent + ((step - 1) * scale.decades) / THIRDS)).toPrecision(1));
}

export function boundText(value: number): string {
  return value === 0 || (value >= 0.01 && value < 10_000) ? String(value) : value.toExponential(0).replace('e+', 'e');
}

/** The relative scale, or one that ends at the largest value where that would be off the relative one (ULP distances, absolute errors). */
export function scaleFor(values: Float32Array): Scale {
  let largest = 0;
  let smallest = Infinity;
  for (const value of values) {
    if (!(value > 0) || value === Infinity) continue;
    if (value > largest) largest = value;
    if (value < smallest) smallest = value;
  }
  if (largest <= 10) return RELATIVE_SCALE;
  const top = Math.ceil(Math.log10(largest));
  const decades = Math.max(1, (top - Math.floor(Math.log10(smallest))) / SPAN);
  return { exponent: top - SPAN * decades, decades };
}

/** none, clean, expected (marked by a person, while marks are hidden), unmatched, then the steps, then non-finite. The signs of the steps are letters from a up. */
export function scaleClasses(scale: Scale): readonly ColourClass[] {
  const steps = Array.from({ length: TOP + 1 }, (_, step): ColourClass => {
    const from = boundText(boundOf(scale, step));
    const to = boundText(boundOf(scale, step + 1));
    const range = step === 0 ? `< ${to}` : step === TOP ? `≥ ${from}` : `${from} – ${to}`;
    return { id: `scale${step}`, sign: String.fromCharCode(97 + step), strong: false, range };
  });
  return [colourClass('none', ''), colourClass('clean', ''), colourClass('expected', '✓'), colourClass('unmatched', '∅'), ...steps, colourClass('nonfinite', '✕', true)];
}

/** Class of each value: at most the threshold counts as clean, NaN as not measured. */
export function classesOnScale(values: Float32Array, scale: Scale, threshold: number): Uint8Array {
  const bounds = Array.from({ length: TOP }, (_, k) => Math.fround(boundOf(scale, k + 1)));
  const clean = Math.fround(threshold);
  const perDecade = THIRDS / scale.decades;
  const classOf = (value: number): number => {
    if (Number.isNaN(value)) return 0;
    if (value === Infinity) return NONFINITE;
    if (value <= clean) return 1;
    // The logarithm is right up to the rounding of the bounds: one step up or down at most.
    let step = Math.min(TOP, Math.max(0, Math.floor((Math.log10(value) - scale.exponent) * perDecade) + 1));
    if (step > 0 && value < bounds[step - 1]) step--;
    else if (step < TOP && value >= bounds[step]) step++;
    return FIRST_STEP + step;
  };
  const classes = new Uint8Array(values.length);
  for (let i = 0; i < values.length; i++) classes[i] = classOf(values[i]); // Uint8Array.from takes several times as long
  return classes;
}

/** What the threshold can be set to: none, then the bounds of the scale and two decades' worth below it. */
export function thresholdStops(scale: Scale): number[] {
  return [0, ...Array.from({ length: TOP + 2 * THIRDS }, (_, k) => boundOf(scale, k + 1 - 2 * THIRDS))];
}
