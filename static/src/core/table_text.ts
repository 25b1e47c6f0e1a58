/** The details table as text: aligned, tab-separated or Markdown. Names come from foreign files and may hold anything. */

export interface TextTable {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** A cell of one line: what would break a row becomes a space. */
function oneLine(text: string): string {
  return text.replace(/[\t\r\n\u2028\u2029]+/g, ' ');
}

export function toTsv(table: TextTable): string {
  return [table.head, ...table.rows].map((row) => row.map(oneLine).join('\t')).join('\n');
}

export function toMarkdown(table: TextTable): string {
  const cell = (text: string): string => oneLine(text).replace(/[\\`*_{}[\]<>|~]/g, '\\$&');
  const line = (row: readonly string[]): string => `| ${row.map(cell).join(' | ')} |`;
  return [`**${cell(table.title)}**`, '', line(table.head), `|${table.head.map(() => ' --- ').join('|')}|`, ...table.rows.map(line)].join('\n');
}

/** Width of a text in a terminal: letters of Chinese, Japanese and Korean take two columns. */
function columns(text: string): number {
  let width = 0;
  for (const character of text) width += /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/.test(character) ? 2 : 1;
  return width;
}

export function toText(table: TextTable): string {
  const lines = [table.head, ...table.rows].map((row) => row.map(oneLine));
  const widths = table.head.map((_, k) => Math.max(...lines.map((row) => columns(row[k] ?? ''))));
  const body = lines.map((row) => row.map((text, k) => text + ' '.repeat(Math.max(0, widths[k] - columns(text)))).join('  ').trimEnd());
  return [oneLine(table.title), ...body].join('\n');
}
