/**
 * Looking for a pattern in all node names at once. Names are head + call number + tail, and heads repeat; so the string
 * table is searched as one text, and only a hit across the seams is looked for node by node.
 */
import type { NamePattern } from './name_pattern';
import { NameTest } from './name_expression';
import type { TextTable } from './name_text';
import { NO_CALL, NodeKind, type Side } from './types';

/** Strings that hold `literal`: 1 each. */
function stringsWith(table: TextTable, literal: string): Uint8Array {
  const found = new Uint8Array(table.end.length);
  const { text, end } = table;
  let string = 0;
  for (let at = text.indexOf(literal); at >= 0; at = text.indexOf(literal, at)) {
    while (end[string] <= at) string++;
    if (at + literal.length <= end[string]) {
      found[string] = 1;
      at = end[string]; // once is enough
    } else at++;
    if (at >= text.length) break;
  }
  return found;
}

interface Seam {
  readonly before: string; // head must end with it; '' = the call number begins the hit
  readonly digits: string;
  readonly value: number; // of the digits
  readonly plain: boolean; // no needless zero in front
  readonly power: number; // 10 ^ number of digits
  readonly after: string; // tail must begin with it; '' = the call number ends the hit
}

/** The ways in which a literal can lie across head, call number and tail: each of its runs of digits may be the call number. */
function seamsOf(literal: string): Seam[] {
  const seams: Seam[] = [];
  for (const run of literal.matchAll(/\d+/g)) {
    const digits = run[0];
    const value = Number(digits);
    const after = literal.slice(run.index + digits.length);
    seams.push({ before: literal.slice(0, run.index), digits, value, plain: String(value) === digits, power: 10 ** digits.length, after });
  }
  return seams;
}

/** Whether a call number equals, begins with, ends with or holds the digits. By arithmetic where it can be: it is asked of every node. */
function callFits(call: number, seam: Seam): boolean {
  const { value, plain, power } = seam;
  if (seam.before !== '') {
    if (!plain) return false;
    if (seam.after !== '' || value === 0) return call === value;
    let rest = call;
    while (rest > value) rest = Math.trunc(rest / 10);
    return rest === value;
  }
  if (seam.after !== '') return call % power === value && (power === 10 || call >= power / 10);
  return String(call).includes(seam.digits);
}

/** Nodes whose full name holds `literal` (lower case): 1 each. */
export function nodesWithLiteral(table: TextTable, side: Side, literal: string): Uint8Array {
  const found = new Uint8Array(side.count);
  if (literal === '') return found.fill(1);
  const inside = stringsWith(table, literal);
  const { head, tail, call } = side;
  for (let node = 1; node < side.count; node++) found[node] = inside[head[node]] | (call[node] === NO_CALL ? 0 : inside[tail[node]]);
  for (const seam of seamsOf(literal)) {
    const ends = stringsAtEdge(table, seam.before, true);
    const begins = stringsAtEdge(table, seam.after, false);
    if (!ends || !begins) continue;
    for (let node = 1; node < side.count; node++) {
      if (found[node] || !ends[head[node]] || !begins[tail[node]] || call[node] === NO_CALL) continue;
      if (callFits(call[node], seam)) found[node] = 1;
    }
  }
  return found;
}

/** Strings that end (or begin) with `part`: 1 each; null when there are none. */
function stringsAtEdge(table: TextTable, part: string, atEnd: boolean): Uint8Array | null {
  const { text, end } = table;
  const flags = new Uint8Array(end.length);
  if (part === '') return flags.fill(1);
  let any = false;
  for (let i = 0; i < end.length; i++) {
    const from = i > 0 ? end[i - 1] : 0;
    const at = atEnd ? end[i] - part.length : from;
    if (at < from || at + part.length > end[i] || !text.startsWith(part, at)) continue;
    flags[i] = 1;
    any = true;
  }
  return any ? flags : null;
}

/** Nodes whose full name fits the pattern: 1 each. Names are in lower case here; expressions ignore case. */
export function nodesWithPattern(table: TextTable, side: Side, pattern: NamePattern): Uint8Array {
  const found = nodesWithLiteral(table, side, pattern.literal);
  if (pattern.expression) new NameTest(table, side, pattern.expression).narrow(found);
  return found;
}

/** Calls of APIs carry no path: one inside a module that fits is a hit as well. Changes `found`. */
export function spreadToCalls(side: Side, found: Uint8Array): Uint8Array {
  const { kind, parent } = side;
  for (let node = 1; node < side.count; node++) if (kind[node] === NodeKind.api && !found[node]) found[node] = found[parent[node]];
  return found;
}
