/** All strings of a graph as one text in lower case, so that one pass finds what is looked for. */

/** The string table as one lower-case text; string i is text[end[i-1]:end[i]]. */
export interface TextTable {
  readonly text: string;
  readonly end: Uint32Array;
}

/** One pass over the UTF-8 bytes. Lower case may change the length of a string, so that is done string by string where it does. */
export function textTable(utf8: Uint8Array, end: Uint32Array): TextTable {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const whole = decoder.decode(utf8).toLowerCase();
  if (whole.length === utf8.length) return { text: whole, end };
  const parts: string[] = [];
  const ends = new Uint32Array(end.length);
  let at = 0;
  for (let i = 0; i < end.length; i++) {
    const part = decoder.decode(utf8.subarray(i > 0 ? end[i - 1] : 0, end[i])).toLowerCase();
    parts.push(part);
    at += part.length;
    ends[i] = at;
  }
  return { text: parts.join(''), end: ends };
}

/** One of the strings, in lower case. */
export function stringAt(table: TextTable, index: number): string {
  return table.text.slice(index > 0 ? table.end[index - 1] : 0, table.end[index]);
}
