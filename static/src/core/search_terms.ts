/** What each term of a query says of each pair and each node, as columns of 0 and 1. Expressions are left to search.ts, which tests them last. */
import type { NamePattern } from './name_pattern';
import { nodesWithLiteral, nodesWithPattern, spreadToCalls } from './name_search';
import { isFetched, type ChoiceField, type FetchedNumber, type NumberField, type Property, type Term, type TextField } from './query';
import type { TextTable } from './name_text';
import { Cause, Direction, FLAG_RECOMPUTED, How, mayHaveCounterpart, NodeKind, Relation, Status, type Graph, type Side, type SideName } from './types';

/** What a search needs besides the graph; made once a graph. */
export interface SearchIndex {
  readonly graph: Graph;
  readonly text: TextTable;
  /** Data type of each node's first tensor, where it was fetched: index into names plus 1; null = not known yet. */
  readonly dtypes: Readonly<Record<SideName, { readonly column: Uint8Array; readonly names: readonly string[] } | null>>;
  /** Per pair, the numbers that are fetched when a query names them, as far as they are there. */
  readonly numbers: Readonly<Partial<Record<FetchedNumber, Float32Array>>>;
  /** Target and golden nodes that a person marked as expected. */
  readonly expected: Readonly<Record<SideName, ReadonlySet<number>>>;
}

/** 1 = holds; one element a pair or a node. */
export type Flags = Uint8Array;
/** A column of small numbers and which of them are wanted. */
type Test = (value: number) => boolean;

/** Output error over input error. */
export function gain(graph: Graph, pair: number): number {
  return graph.verdicts.error[pair] / graph.verdicts.inputError[pair];
}

/** Sets the flags where a column's value is one of the wanted ones; the column holds numbers below 256. */
function mark(flags: Flags, column: Uint8Array, test: Test): Flags {
  const table = new Uint8Array(256);
  for (let value = 0; value < 256; value++) table[value] = test(value) ? 1 : 0;
  for (let i = 0; i < flags.length; i++) flags[i] |= table[column[i]];
  return flags;
}

function isInfinite(flags: Flags, column: Float32Array): void {
  for (let pair = 0; pair < flags.length; pair++) if (column[pair] === Infinity) flags[pair] = 1;
}

/** Properties of pairs; the others are those of nodes. */
const PAIR_PROPERTIES = new Set<Property>(['clean', 'parameter', 'introduced', 'amplified', 'inherited', 'recovered', 'cause', 'error', 'warning', 'pass', 'incomparable', 'nonfinite', 'matched', 'group']);

/** Adds to `flags` the pairs that have one of PAIR_PROPERTIES. */
function addPairs(graph: Graph, flags: Flags, name: Property): void {
  const { cause, status, error, inputError, parameterError } = graph.verdicts;
  switch (name) {
    case 'clean':
    case 'parameter':
    case 'introduced':
    case 'amplified':
    case 'inherited':
    case 'recovered':
      mark(flags, cause, (value) => value === Cause[name]);
      return;
    case 'cause':
      mark(flags, cause, (value) => value === Cause.introduced || value === Cause.parameter);
      return;
    case 'error':
    case 'warning':
    case 'pass':
      mark(flags, status, (value) => value === Status[name]);
      return;
    case 'incomparable':
      mark(flags, status, (value) => value === Status.notComparable);
      return;
    case 'nonfinite':
      for (const column of [error, inputError, parameterError]) isInfinite(flags, column);
      return;
    case 'matched':
      flags.fill(1);
      return;
    case 'group':
      mark(flags, graph.pairs.relation, (value) => value !== Relation.same);
  }
}

/** Adds to `flags` the nodes that have a property that is none of PAIR_PROPERTIES. */
function addNodes(index: SearchIndex, which: SideName, side: Side, flags: Flags, name: Property): void {
  switch (name) {
    case 'unmatched':
      if (index.graph.golden) for (let node = 1; node < side.count; node++) if (side.pair[node] < 0 && mayHaveCounterpart(side.kind[node])) flags[node] = 1;
      return;
    case 'expected':
      for (const node of index.expected[which]) flags[node] = 1;
      return;
    case 'module':
    case 'api':
      mark(flags, side.kind, (value) => value === NodeKind[name]);
      return;
    case 'forward':
    case 'backward':
      mark(flags, side.direction, (value) => value === Direction[name]);
      return;
    case 'recomputed':
      mark(flags, side.flags, (value) => (value & FLAG_RECOMPUTED) !== 0);
      return;
    case 'overflow':
      if (side.overflow) mark(flags, side.overflow, (value) => value > 0);
  }
}

const KIND_NAMES: Readonly<Record<string, number>> = { module: NodeKind.module, api: NodeKind.api, collection: NodeKind.apiCollection, gradient: NodeKind.parametersGrad, unplaced: NodeKind.unplaced };
const STATUS_NAMES: Readonly<Record<string, number>> = { none: Status.none, pass: Status.pass, warning: Status.warning, error: Status.error, incomparable: Status.notComparable };

function oneOf(values: readonly string[], names: Readonly<Record<string, number>>): Test {
  const wanted = new Set(values.map((value) => names[value]));
  return (value) => wanted.has(value);
}

function pairsOfChoice(graph: Graph, flags: Flags, field: ChoiceField, values: readonly string[]): Flags | null {
  switch (field) {
    case 'status':
      return mark(flags, graph.verdicts.status, oneOf(values, STATUS_NAMES));
    case 'cause':
      return mark(flags, graph.verdicts.cause, oneOf(values, Cause));
    case 'how':
      return mark(flags, graph.pairs.how, oneOf(values, How));
    default:
      return null;
  }
}

function nodesOfChoice(which: SideName, side: Side, field: ChoiceField, values: readonly string[]): Flags | null {
  const flags = new Uint8Array(side.count);
  switch (field) {
    case 'side':
      return values.includes(which) ? flags.fill(1) : flags;
    case 'kind':
      return mark(flags, side.kind, oneOf(values, KIND_NAMES));
    case 'dir':
      return mark(flags, side.direction, oneOf(values, Direction));
    default:
      return null;
  }
}

type NumberTerm = Term & { readonly kind: 'number' };

/** 1 where a number lies in the term's bounds; nothing that is not a number (NaN) does. */
function inBounds(flags: Flags, term: NumberTerm, value: (i: number) => number): Flags {
  const { low, high, lowOpen, highOpen } = term;
  for (let i = 0; i < flags.length; i++) {
    const number = value(i);
    if ((lowOpen ? number > low : number >= low) && (highOpen ? number < high : number <= high)) flags[i] = 1;
  }
  return flags;
}

function numberOfPair(graph: Graph, field: NumberField): ((pair: number) => number) | null {
  const { error, inputError, parameterError } = graph.verdicts;
  const { confidence } = graph.pairs;
  switch (field) {
    case 'error':
      return (pair) => error[pair];
    case 'input':
      return (pair) => inputError[pair];
    case 'parameter':
      return (pair) => parameterError[pair];
    case 'gain':
      return (pair) => gain(graph, pair);
    case 'confidence':
      return (pair) => confidence[pair] / 255;
    default:
      return null;
  }
}

function numberOfNode(side: Side, field: NumberField): ((node: number) => number) | null {
  const { microStep, call, depth, end } = side;
  switch (field) {
    case 'micro':
      return (node) => microStep[node];
    case 'call':
      return (node) => (call[node] < 0 ? Number.NaN : call[node]);
    case 'depth':
      return (node) => depth[node];
    case 'inside':
      return (node) => end[node] - node - 1;
    default:
      return null;
  }
}

function fits(pattern: NamePattern, text: string): boolean {
  const lower = text.toLowerCase();
  return lower.includes(pattern.literal) && (pattern.expression === null || pattern.expression.test(lower));
}

/** What a term says of pairs, the same for both sides; null where it says nothing of them, 'missing' where the column for it is not there. */
export function pairFlags(index: SearchIndex, term: Term): Flags | null | 'missing' {
  const { graph } = index;
  const flags = new Uint8Array(graph.pairs.count);
  switch (term.kind) {
    case 'is': {
      const ofPairs = term.values.filter((value) => PAIR_PROPERTIES.has(value));
      for (const value of ofPairs) addPairs(graph, flags, value);
      return ofPairs.length > 0 ? flags : null;
    }
    case 'number': {
      if (isFetched(term.field)) {
        const column = index.numbers[term.field];
        return column ? inBounds(flags, term, (pair) => column[pair]) : 'missing';
      }
      const value = numberOfPair(graph, term.field);
      return value && inBounds(flags, term, value);
    }
    case 'choice':
      return pairsOfChoice(graph, flags, term.field, term.values);
    case 'text': {
      if (term.field !== 'reason') return null;
      let mask = 0;
      for (const reason of graph.summary.reasons) if (fits(term.pattern, reason.id)) mask |= 1 << reason.code;
      const { reasons } = graph.verdicts;
      for (let pair = 0; pair < flags.length; pair++) flags[pair] = (reasons[pair] & mask) !== 0 ? 1 : 0;
      return flags;
    }
    case 'name':
      return null;
  }
}

/** What a term says of nodes; null where it says nothing of them, 'missing' where the column for it is not there. */
export function nodeFlags(index: SearchIndex, which: SideName, side: Side, term: Term): Flags | null | 'missing' {
  switch (term.kind) {
    case 'name':
      return spreadToCalls(side, nodesWithLiteral(index.text, side, term.pattern.literal));
    case 'is': {
      const ofNodes = term.values.filter((value) => !PAIR_PROPERTIES.has(value));
      if (ofNodes.length === 0) return null;
      const flags = new Uint8Array(side.count);
      for (const value of ofNodes) addNodes(index, which, side, flags, value);
      return flags;
    }
    case 'number': {
      const value = numberOfNode(side, term.field);
      return value && inBounds(new Uint8Array(side.count), term, value);
    }
    case 'choice':
      return nodesOfChoice(which, side, term.field, term.values);
    case 'text':
      return nodesOfText(index, which, side, term.field, term.pattern);
  }
}

/** Whether the class of a module fits: the last component but one of its head ("….TransformerLayer.forward."). */
function hasClass({ text, end }: TextTable, head: number, pattern: NamePattern): boolean {
  const from = head > 0 ? end[head - 1] : 0;
  const stop = text.endsWith('.', end[head]) ? end[head] - 1 : end[head];
  const last = text.lastIndexOf('.', stop - 1);
  return last > from && fits(pattern, text.slice(Math.max(from, text.lastIndexOf('.', last - 1) + 1), last));
}

function nodesOfText(index: SearchIndex, which: SideName, side: Side, field: TextField, pattern: NamePattern): Flags | null | 'missing' {
  switch (field) {
    case 'reason':
      return null;
    case 'dtype': {
      const found = index.dtypes[which];
      if (!found) return 'missing';
      return mark(new Uint8Array(side.count), found.column, (value) => value > 0 && value <= found.names.length && fits(pattern, found.names[value - 1]));
    }
    case 'class': {
      const known = new Uint8Array(index.graph.strings.count); // 1 = fits, 2 = does not
      const flags = new Uint8Array(side.count);
      const { kind, head } = side;
      for (let node = 1; node < side.count; node++) {
        if (kind[node] !== NodeKind.module) continue;
        if (known[head[node]] === 0) known[head[node]] = hasClass(index.text, head[node], pattern) ? 1 : 2;
        if (known[head[node]] === 1) flags[node] = 1;
      }
      return flags;
    }
    case 'path': {
      // Everything inside a node whose name fits, and that node.
      const own = nodesWithPattern(index.text, side, pattern);
      const { parent } = side;
      for (let node = 1; node < side.count; node++) if (!own[node] && parent[node] > 0) own[node] = own[parent[node]];
      return own;
    }
  }
}
