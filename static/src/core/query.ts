/**
 * The query language of the search box: text → terms, each with its place in the text, and what is wrong with it.
 *
 *   layers.1?.mlp       part of a name, any case; ? stands for one character, * for any
 *   "two words"         the same with spaces; wildcards stand for themselves
 *   /^Module.*norm/     regular expression
 *   is:introduced       a property; of several values any: is:introduced,parameter
 *   error>0.01          a number; also >=, <, <=, =, and a range: error:1e-3..0.1
 *   norm_err>0.01       the error of one statistic; `error` is the largest of them
 *   -is:unmatched       a minus in front: everything else
 *
 * All terms must hold. Pure: knows nothing of graphs (search.ts does).
 */

import { expressionPattern, globPattern, type NamePattern } from './name_pattern';
import { HOW_WORDS, SIDES } from './types';

/** Words that `is:` understands, in the order in which they are offered. */
const PROPERTIES = [
  'introduced',
  'parameter',
  'amplified',
  'inherited',
  'recovered',
  'clean',
  'cause',
  'error',
  'warning',
  'pass',
  'incomparable',
  'nonfinite',
  'unmatched',
  'matched',
  'group',
  'expected',
  'module',
  'api',
  'forward',
  'backward',
  'recomputed',
  'overflow',
] as const;
export type Property = (typeof PROPERTIES)[number];

/** Numbers that are there when a graph is opened. */
const OPENING_NUMBERS = ['error', 'input', 'parameter', 'gain', 'confidence', 'micro', 'call', 'depth', 'inside'] as const;
/** The error of one statistic of a pair's outputs; fetched when a query names one. */
export const STATISTIC_NUMBERS = ['max_err', 'min_err', 'mean_err', 'norm_err'] as const;
/** Metrics of the elements of a pair's tensors (tensor mode), of the worst one, under the names that the graph file has for them. */
export const METRIC_NAMES = {
  cosine: 'Cosine', euc_dist: 'EucDist', max_abs_err: 'MaxAbsErr', max_rel_err: 'MaxRelativeErr', rel_norm_err: 'Relative Norm Err',
  one_thousandth: 'One Thousandth Err Ratio', five_thousandths: 'Five Thousandths Err Ratio', outside: 'Outside Tolerance', ulp: 'ULP Distance',
} as const;
export type StatisticNumber = (typeof STATISTIC_NUMBERS)[number];
export type MetricNumber = keyof typeof METRIC_NAMES;
/** What is fetched when a query names it, one number a pair. */
export type FetchedNumber = StatisticNumber | MetricNumber;

/** Numbers that can be compared. */
export type NumberField = (typeof OPENING_NUMBERS)[number] | FetchedNumber;
export const NUMBERS: readonly NumberField[] = [...OPENING_NUMBERS, ...STATISTIC_NUMBERS, ...(Object.keys(METRIC_NAMES) as MetricNumber[])];

export function isFetched(field: NumberField): field is FetchedNumber {
  return !(OPENING_NUMBERS as readonly string[]).includes(field);
}

/** Other spellings. */
const NUMBER_ALIASES: Readonly<Record<string, NumberField>> = {
  err: 'error', rel_err: 'error', output: 'error', output_err: 'error', input_err: 'input', in: 'input',
  param: 'parameter', param_err: 'parameter', weight: 'parameter', micro_step: 'micro', step: 'micro', nodes: 'inside', size: 'inside',
  cos: 'cosine', max_relative_err: 'max_rel_err', relative_norm_err: 'rel_norm_err', ulp_distance: 'ulp',
};

/** Choices: `key:value`. */
const CHOICES = {
  side: SIDES,
  kind: ['module', 'api', 'collection', 'gradient', 'unplaced'],
  dir: ['forward', 'backward', 'none'],
  status: ['pass', 'warning', 'error', 'incomparable', 'none'],
  cause: ['clean', 'parameter', 'introduced', 'amplified', 'inherited', 'recovered', 'none'],
  how: HOW_WORDS,
} as const;
export type ChoiceField = keyof typeof CHOICES;
/** `key:text` with any text: a reason's id, a data type, a class. */
const TEXTS = ['reason', 'dtype', 'class', 'path'] as const;
export type TextField = (typeof TEXTS)[number];
/** What may stand before a colon, under the names that help and examples use. */
const KEYS: readonly string[] = ['is', ...Object.keys(CHOICES), 'in', ...TEXTS, ...NUMBERS];
const KEY_ALIASES: Readonly<Record<string, string>> = { direction: 'dir', type: 'class', matched_by: 'how', in: 'path', under: 'path' };
const VALUE_ALIASES: Readonly<Record<string, string>> = {
  fail: 'error', failed: 'error', passed: 'pass', not_comparable: 'incomparable', normalized: 'normalised', params: 'parameter',
  nan: 'nonfinite', inf: 'nonfinite', modules: 'module', apis: 'api', fwd: 'forward', bwd: 'backward', npu: 'target', bench: 'golden',
};

export interface Place {
  readonly from: number; // characters of the text
  readonly to: number;
  readonly not: boolean;
}
export type Term = Place &
  (
    | { readonly kind: 'name'; readonly pattern: NamePattern }
    | { readonly kind: 'is'; readonly values: readonly Property[] }
    | { readonly kind: 'number'; readonly field: NumberField; readonly low: number; readonly high: number; readonly lowOpen: boolean; readonly highOpen: boolean }
    | { readonly kind: 'choice'; readonly field: ChoiceField; readonly values: readonly string[] }
    | { readonly kind: 'text'; readonly field: TextField; readonly pattern: NamePattern }
  );

/** What is wrong with one term; `code` and arguments make the sentence (i18n: search.problem.{code}). */
export interface QueryProblem {
  readonly from: number;
  readonly to: number;
  readonly code: 'key' | 'noKey' | 'noNumber' | 'value' | 'number' | 'expression' | 'quote';
  readonly word: string;
  readonly hint: string; // what was probably meant, or what is possible
}

export interface Query {
  readonly terms: readonly Term[];
  readonly problems: readonly QueryProblem[];
}

interface Word {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  readonly quoted: 'no' | 'quote' | 'expression' | 'open';
  readonly not: boolean;
}

/** Splits at white space outside quotes and /…/; a minus in front of a word is taken off. */
function words(text: string): Word[] {
  const found: Word[] = [];
  let at = 0;
  while (at < text.length) {
    if (/\s/.test(text[at])) {
      at++;
      continue;
    }
    const from = at;
    const not = text[at] === '-' && at + 1 < text.length && !/\s/.test(text[at + 1]);
    if (not) at++;
    const mark = text[at];
    if (mark === '"' || mark === '/') {
      let end = at + 1;
      while (end < text.length && text[end] !== mark) end += text[end] === '\\' && mark === '/' ? 2 : 1;
      const closed = end < text.length;
      end = Math.min(end, text.length);
      const quoted = !closed ? 'open' : mark === '"' ? 'quote' : 'expression';
      found.push({ text: text.slice(at + 1, end), from, to: Math.min(text.length, end + 1), quoted, not });
      at = end + 1;
      continue;
    }
    let end = at;
    // A value may be quoted: class:"My Layer".
    while (end < text.length && !/\s/.test(text[end])) {
      if (text[end] === '"') {
        const close = text.indexOf('"', end + 1);
        end = close < 0 ? text.length : close + 1;
      } else end++;
    }
    found.push({ text: text.slice(at, end), from, to: end, quoted: 'no', not });
    at = end;
  }
  return found;
}

/** Edit distance up to 2, for "did you mean". */
function close(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return 3;
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) next.push(Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length];
}

const MOST_NEAR = 3;

/** Keys that a word was probably meant to be: those that it begins, else the ones with the fewest letters changed; of a short word one letter. */
function nearestKeys(word: string): string[] {
  const begins = KEYS.filter((item) => word !== '' && item.startsWith(word));
  if (begins.length > 0) return begins;
  const limit = word.length > 4 ? 2 : 1;
  const best = Math.min(...KEYS.map((item) => close(word, item)));
  return best <= limit ? KEYS.filter((item) => close(word, item) === best) : [];
}

function nearest(word: string, known: readonly string[]): string {
  const begins = known.filter((item) => word !== '' && item.startsWith(word));
  if (begins.length > 0) return begins.join(', ');
  const best = known.map((item) => [close(word, item), item] as const).sort((a, b) => a[0] - b[0])[0];
  return best && best[0] <= 2 ? best[1] : known.join(', ');
}

const COMPARISON = /^([A-Za-z_]+)(>=|<=|==|=|>|<)(.*)$/su;
const KEYED = /^([A-Za-z_]+):(.*)$/su;
const INFINITY = /^\+?(inf|infinity|∞)$/i;

function numberOf(text: string): number | null {
  if (INFINITY.test(text)) return Infinity;
  return text !== '' && /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?%?$/i.test(text) ? (text.endsWith('%') ? Number(text.slice(0, -1)) / 100 : Number(text)) : null;
}

function fieldOf(key: string): NumberField | null {
  const lower = key.toLowerCase();
  if ((NUMBERS as readonly string[]).includes(lower)) return lower as NumberField;
  return Object.hasOwn(NUMBER_ALIASES, lower) ? NUMBER_ALIASES[lower] : null;
}

/** Text → terms. Never throws: what cannot be understood becomes a problem and is left out. */
export function parseQuery(text: string): Query {
  const terms: Term[] = [];
  const problems: QueryProblem[] = [];
  for (const word of words(text)) {
    const place = { from: word.from, to: word.to, not: word.not };
    const problem = (code: QueryProblem['code'], what: string, hint = ''): void => void problems.push({ from: word.from, to: word.to, code, word: what, hint });
    if (word.quoted === 'open') {
      // Somebody is still typing: what is there so far counts as plain text.
      problem('quote', word.text);
      if (word.text) terms.push({ ...place, kind: 'name', pattern: { literal: word.text.toLowerCase(), expression: null } });
    } else if (word.quoted === 'quote') {
      if (word.text) terms.push({ ...place, kind: 'name', pattern: { literal: word.text.toLowerCase(), expression: null } });
    } else if (word.quoted === 'expression') {
      const pattern = expressionPattern(word.text);
      if (pattern) terms.push({ ...place, kind: 'name', pattern });
      else problem('expression', word.text);
    } else {
      const term = compared(word, place, problem) ?? keyed(word, place, problem);
      if (term === 'problem') continue;
      terms.push(term ?? { ...place, kind: 'name', pattern: globPattern(word.text) });
    }
  }
  return { terms, problems };
}

type Report = (code: QueryProblem['code'], what: string, hint?: string) => void;

function compared(word: Word, place: Place, problem: Report): Term | 'problem' | null {
  const found = COMPARISON.exec(word.text);
  if (!found) return null;
  const field = fieldOf(found[1]);
  if (!field) {
    const near = nearestKeys(found[1].toLowerCase()).filter((key) => (NUMBERS as readonly string[]).includes(key));
    if (near.length > 0 && near.length <= MOST_NEAR) problem('key', found[1], near.join(', '));
    else problem('noNumber', found[1], NUMBERS.join(', '));
    return 'problem';
  }
  const value = numberOf(found[3]);
  if (value === null) {
    problem('number', found[3] || word.text);
    return 'problem';
  }
  const base = { ...place, kind: 'number', field } as const;
  switch (found[2]) {
    case '>':
      return { ...base, low: value, high: Infinity, lowOpen: true, highOpen: false };
    case '>=':
      return { ...base, low: value, high: Infinity, lowOpen: false, highOpen: false };
    case '<':
      return { ...base, low: -Infinity, high: value, lowOpen: false, highOpen: true };
    case '<=':
      return { ...base, low: -Infinity, high: value, lowOpen: false, highOpen: false };
    default:
      return { ...base, low: value, high: value, lowOpen: false, highOpen: false };
  }
}

function keyed(word: Word, place: Place, problem: Report): Term | 'problem' | null {
  const found = KEYED.exec(word.text);
  if (!found) return null;
  const given = found[1].toLowerCase();
  const key = Object.hasOwn(KEY_ALIASES, given) ? KEY_ALIASES[given] : given;
  const value = found[2].replace(/^"(.*)"$/s, '$1');
  if (key === 'is') {
    const values = several(value, PROPERTIES, problem);
    return values ? { ...place, kind: 'is', values: values as Property[] } : 'problem';
  }
  if (Object.hasOwn(CHOICES, key)) {
    const field = key as ChoiceField;
    const values = several(value, CHOICES[field], problem);
    return values ? { ...place, kind: 'choice', field, values } : 'problem';
  }
  if ((TEXTS as readonly string[]).includes(key)) {
    if (value === '') {
      problem('value', '', '');
      return 'problem';
    }
    return { ...place, kind: 'text', field: key as TextField, pattern: globPattern(value) };
  }
  const field = fieldOf(key);
  if (field) {
    const [low, high] = value.includes('..') ? value.split('..').map((part) => (part === '' ? undefined : numberOf(part))) : [numberOf(value), numberOf(value)];
    if (low === null || high === null || (low === undefined && high === undefined)) {
      problem('number', value);
      return 'problem';
    }
    return { ...place, kind: 'number', field, low: low ?? -Infinity, high: high ?? Infinity, lowOpen: false, highOpen: false };
  }
  // "Module:x" may be a name; a word that looks like a key of ours is a slip.
  const near = nearestKeys(given);
  if (near.length > 0 && near.length <= MOST_NEAR) {
    problem('key', found[1], near.join(', '));
    return 'problem';
  }
  if (value !== '' && !value.startsWith(':')) problem('noKey', found[1], KEYS.join(', ')); // not aten::add
  return null;
}

function several(value: string, known: readonly string[], problem: Report): string[] | null {
  const values: string[] = [];
  for (const part of value.toLowerCase().split(',')) {
    const word = !known.includes(part) && Object.hasOwn(VALUE_ALIASES, part) ? VALUE_ALIASES[part] : part;
    if (!known.includes(word)) {
      problem('value', part, nearest(part, known));
      return null;
    }
    values.push(word);
  }
  return values;
}

/** What a chip or a menu of the panel adds: the query with `key:value` switched on or off. Several values of one key are joined. */
export function toggleValue(text: string, key: string, value: string): string {
  for (const word of words(text)) {
    const found = word.quoted === 'no' && !word.not ? KEYED.exec(word.text) : null;
    if (!found || found[1].toLowerCase() !== key) continue;
    const values = found[2].split(',').filter(Boolean);
    const next = values.includes(value) ? values.filter((item) => item !== value) : [...values, value];
    const replacement = next.length > 0 ? `${found[1]}:${next.join(',')}` : '';
    return `${text.slice(0, word.from)}${replacement}${text.slice(word.to)}`.replace(/\s+/g, ' ').trim();
  }
  return `${text.trim()} ${key}:${value}`.trim();
}

/** Whether the query holds `key:value`. */
export function hasValue(text: string, key: string, value: string): boolean {
  return words(text).some((word) => {
    const found = word.quoted === 'no' && !word.not ? KEYED.exec(word.text) : null;
    return found !== null && found[1].toLowerCase() === key && found[2].split(',').includes(value);
  });
}

/** The query with `key:` set to one value, or without that key where `value` is empty. */
export function setValue(text: string, key: string, value: string): string {
  let left = '';
  let at = 0;
  for (const word of words(text)) {
    const found = word.quoted === 'no' && !word.not ? KEYED.exec(word.text) : null;
    if (!found || found[1].toLowerCase() !== key) continue;
    left += text.slice(at, word.from);
    at = word.to;
  }
  left = (left + text.slice(at)).replace(/\s+/g, ' ').trim();
  if (value === '') return left;
  return `${left} ${key}:${/\s/.test(value) ? `"${value}"` : value}`.trim();
}

/** The first value of `key:` in the query, '' without one. */
export function valueOf(text: string, key: string): string {
  for (const word of words(text)) {
    const found = word.quoted === 'no' && !word.not ? KEYED.exec(word.text) : null;
    if (found && found[1].toLowerCase() === key) return found[2].replace(/^"(.*)"$/s, '$1');
  }
  return '';
}
