/** Runs a query over a graph: columns in, rows out, no request. Rows are encoded as in findings.ts. */
import { worstError } from './findings';
import { nodesWithPattern, spreadToCalls, type TextTable } from './name_search';
import type { ChoiceField, NumberField, Property, Query, Term, TextField, NamePattern } from './query';
import { Cause, Direction, FLAG_RECOMPUTED, How, NodeKind, Relation, Status, pairNodes, sideOf, type Graph, type Side, type SideName } from './types';

/** What a search needs besides the graph; made once a graph. */
export interface SearchIndex {
  readonly graph: Graph;
  readonly text: TextTable;
  /** Data type of each node's first tensor, where it was fetched: index into names plus 1; null = not known yet. */
  readonly dtypes: Readonly<Record<SideName, { readonly column: Uint8Array; readonly names: readonly string[] } | null>>;
  /** Target and golden nodes that a person marked as expected. */
  readonly expected: Readonly<Record<SideName, ReadonlySet<number>>>;
}

export const ORDERS = ['call', 'severity', 'error', 'gain'] as const;
export type Order = (typeof ORDERS)[number];

export interface SearchResult {
  readonly rows: Int32Array; // target node, or -1 - golden node
  readonly hits: { readonly target: number; readonly golden: number };
  readonly needsDtypes: boolean; // a dtype: term was passed over because the column is not there
}

type Flags = Uint8Array; // 1 = holds

function perPair(side: Side, test: (pair: number) => boolean, unmatched: boolean, pairCount: number): Flags {
  const of = new Uint8Array(pairCount);
  for (let pair = 0; pair < pairCount; pair++) of[pair] = test(pair) ? 1 : 0;
  const flags = new Uint8Array(side.count);
  const { pair } = side;
  for (let node = 1; node < side.count; node++) flags[node] = pair[node] < 0 ? (unmatched ? 1 : 0) : of[pair[node]];
  return flags;
}

function perNode(side: Side, test: (node: number) => boolean): Flags {
  const flags = new Uint8Array(side.count);
  for (let node = 1; node < side.count; node++) flags[node] = test(node) ? 1 : 0;
  return flags;
}

/** Containers that the converter made have no counterpart by nature. */
export function countsAsUnmatched(side: Side, node: number): boolean {
  const kind = side.kind[node];
  return side.pair[node] < 0 && kind !== NodeKind.root && kind !== NodeKind.apiCollection && kind !== NodeKind.unplaced;
}

function property(index: SearchIndex, which: SideName, side: Side, name: Property): Flags {
  const { graph } = index;
  const { pairs } = graph;
  const { cause, status, error, inputError, parameterError } = graph.verdicts;
  const ofPair = (test: (pair: number) => boolean): Flags => perPair(side, test, false, pairs.count);
  switch (name) {
    case 'clean':
    case 'parameter':
    case 'introduced':
    case 'amplified':
    case 'inherited':
    case 'recovered':
      return ofPair((pair) => cause[pair] === Cause[name]);
    case 'cause':
      return ofPair((pair) => cause[pair] === Cause.introduced || cause[pair] === Cause.parameter);
    case 'error':
      return ofPair((pair) => status[pair] === Status.error);
    case 'warning':
      return ofPair((pair) => status[pair] === Status.warning);
    case 'pass':
      return ofPair((pair) => status[pair] === Status.pass);
    case 'incomparable':
      return ofPair((pair) => status[pair] === Status.notComparable);
    case 'nonfinite':
      return ofPair((pair) => error[pair] === Infinity || inputError[pair] === Infinity || parameterError[pair] === Infinity);
    case 'unmatched':
      return graph.golden ? perNode(side, (node) => countsAsUnmatched(side, node)) : new Uint8Array(side.count);
    case 'matched':
      return perNode(side, (node) => side.pair[node] >= 0);
    case 'group':
      return ofPair((pair) => pairs.relation[pair] !== Relation.same);
    case 'expected': {
      const marked = index.expected[which];
      return perNode(side, (node) => marked.has(node));
    }
    case 'module':
      return perNode(side, (node) => side.kind[node] === NodeKind.module);
    case 'api':
      return perNode(side, (node) => side.kind[node] === NodeKind.api);
    case 'forward':
      return perNode(side, (node) => side.direction[node] === Direction.forward);
    case 'backward':
      return perNode(side, (node) => side.direction[node] === Direction.backward);
    case 'recomputed':
      return perNode(side, (node) => (side.flags[node] & FLAG_RECOMPUTED) !== 0);
    case 'overflow': {
      const level = side.overflow;
      return level ? perNode(side, (node) => level[node] > 0) : new Uint8Array(side.count);
    }
  }
}

/** A value that a condition can be put on; NaN = this node has none, and no condition holds. */
function numberOf(graph: Graph, side: Side, field: NumberField): ((node: number) => number) | null {
  const { error, inputError, parameterError } = graph.verdicts;
  const at = (column: Float32Array) => (node: number) => (side.pair[node] < 0 ? Number.NaN : column[side.pair[node]]);
  switch (field) {
    case 'error':
      return at(error);
    case 'input':
      return at(inputError);
    case 'parameter':
      return at(parameterError);
    case 'gain':
      return (node) => (side.pair[node] < 0 ? Number.NaN : gain(graph, side.pair[node]));
    case 'confidence':
      return (node) => (side.pair[node] < 0 ? Number.NaN : graph.pairs.confidence[side.pair[node]] / 255);
    case 'micro':
      return (node) => side.microStep[node];
    case 'call':
      return (node) => (side.call[node] < 0 ? Number.NaN : side.call[node]);
    case 'depth':
      return (node) => side.depth[node];
    case 'inside':
      return (node) => side.end[node] - node - 1;
  }
}

/** Output error over input error. */
export function gain(graph: Graph, pair: number): number {
  return graph.verdicts.error[pair] / graph.verdicts.inputError[pair];
}

const KIND_NAMES: Readonly<Record<string, number>> = { module: NodeKind.module, api: NodeKind.api, collection: NodeKind.apiCollection, gradient: NodeKind.parametersGrad, unplaced: NodeKind.unplaced };
const STATUS_NAMES: Readonly<Record<string, number>> = { none: Status.none, pass: Status.pass, warning: Status.warning, error: Status.error, incomparable: Status.notComparable };
const DIRECTION_NAMES: Readonly<Record<string, number>> = Direction;
const CAUSE_NAMES: Readonly<Record<string, number>> = Cause;
const HOW_NAMES: Readonly<Record<string, number>> = How;

function choice(graph: Graph, which: SideName, side: Side, field: ChoiceField, values: readonly string[]): Flags {
  const wanted = (names: Readonly<Record<string, number>>): Uint8Array => {
    const table = new Uint8Array(16);
    for (const value of values) table[names[value]] = 1;
    return table;
  };
  switch (field) {
    case 'side':
      return values.includes(which) ? new Uint8Array(side.count).fill(1) : new Uint8Array(side.count);
    case 'kind': {
      const table = wanted(KIND_NAMES);
      return perNode(side, (node) => table[side.kind[node]] === 1);
    }
    case 'dir': {
      const table = wanted(DIRECTION_NAMES);
      return perNode(side, (node) => table[side.direction[node]] === 1);
    }
    case 'status': {
      const table = wanted(STATUS_NAMES);
      return perPair(side, (pair) => table[graph.verdicts.status[pair]] === 1, false, graph.pairs.count);
    }
    case 'cause': {
      const table = wanted(CAUSE_NAMES);
      return perPair(side, (pair) => table[graph.verdicts.cause[pair]] === 1, false, graph.pairs.count);
    }
    case 'how': {
      const table = wanted(HOW_NAMES);
      return perPair(side, (pair) => table[graph.pairs.how[pair]] === 1, false, graph.pairs.count);
    }
  }
}

function fits(pattern: NamePattern, text: string): boolean {
  const lower = text.toLowerCase();
  return lower.includes(pattern.literal) && (pattern.expression === null || pattern.expression.test(lower));
}

function textual(index: SearchIndex, which: SideName, side: Side, field: TextField, pattern: NamePattern): Flags | null {
  const { graph } = index;
  switch (field) {
    case 'reason': {
      let mask = 0;
      for (const reason of graph.summary.reasons) if (fits(pattern, reason.id)) mask |= 1 << reason.code;
      return perPair(side, (pair) => (graph.verdicts.reasons[pair] & mask) !== 0, false, graph.pairs.count);
    }
    case 'dtype': {
      const found = index.dtypes[which];
      if (!found) return null;
      const table = new Uint8Array(found.names.length + 1);
      found.names.forEach((name, i) => (table[i + 1] = fits(pattern, name) ? 1 : 0));
      return perNode(side, (node) => table[found.column[node]] === 1);
    }
    case 'class': {
      // The class is the last component of a module's head: "….TransformerLayer.forward."
      const known = new Map<number, boolean>();
      return perNode(side, (node) => {
        if (side.kind[node] !== NodeKind.module) return false;
        let answer = known.get(side.head[node]);
        if (answer === undefined) {
          const parts = graph.strings.get(side.head[node]).replace(/\.$/, '').split('.');
          answer = parts.length > 1 && fits(pattern, parts[parts.length - 2]);
          known.set(side.head[node], answer);
        }
        return answer;
      });
    }
    case 'path': {
      // Everything inside a node whose name fits, and that node.
      const own = nodesWithPattern(index.text, side, pattern);
      for (let node = 1; node < side.count; node++) if (!own[node]) own[node] = side.parent[node] > 0 ? own[side.parent[node]] : 0;
      return own;
    }
  }
}

function flagsOf(index: SearchIndex, which: SideName, side: Side, term: Term): Flags | null {
  switch (term.kind) {
    case 'name':
      return spreadToCalls(side, nodesWithPattern(index.text, side, term.pattern));
    case 'is': {
      const flags = new Uint8Array(side.count);
      for (const value of term.values) {
        const one = property(index, which, side, value);
        for (let node = 1; node < side.count; node++) flags[node] |= one[node];
      }
      return flags;
    }
    case 'number': {
      const value = numberOf(index.graph, side, term.field);
      if (!value) return null;
      const { low, high, lowOpen, highOpen } = term;
      return perNode(side, (node) => {
        const number = value(node);
        return (lowOpen ? number > low : number >= low) && (highOpen ? number < high : number <= high);
      });
    }
    case 'choice':
      return choice(index.graph, which, side, term.field, term.values);
    case 'text':
      return textual(index, which, side, term.field, term.pattern);
  }
}

function holds(index: SearchIndex, which: SideName, query: Query, onlyMicroStep: number): { flags: Flags; missing: boolean } | null {
  const side = sideOf(index.graph, which);
  if (!side) return null;
  const flags = new Uint8Array(side.count).fill(1);
  flags[0] = 0;
  let missing = false;
  for (const term of query.terms) {
    const own = flagsOf(index, which, side, term);
    if (own === null) {
      missing = true;
      continue;
    }
    const keep = term.not ? 0 : 1;
    for (let node = 1; node < side.count; node++) if (own[node] !== keep) flags[node] = 0;
  }
  if (onlyMicroStep >= 0) for (let node = 1; node < side.count; node++) if (side.microStep[node] !== onlyMicroStep) flags[node] = 0;
  return { flags, missing };
}

/** All hits in the wanted order. A golden node whose counterpart is a hit itself is not listed again. */
export function search(index: SearchIndex, query: Query, order: Order, onlyMicroStep = -1): SearchResult {
  const { graph } = index;
  const target = holds(index, 'target', query, onlyMicroStep);
  const golden = holds(index, 'golden', query, onlyMicroStep);
  const rows = merged(graph, target?.flags ?? new Uint8Array(1), golden?.flags ?? null);
  let onTarget = 0;
  for (let i = 0; i < rows.length; i++) if (rows[i] >= 0) onTarget++;
  return {
    rows: order === 'call' ? rows : sorted(graph, rows, order),
    hits: { target: onTarget, golden: rows.length - onTarget },
    needsDtypes: (target?.missing ?? false) || (golden?.missing ?? false),
  };
}

/** Hits of both sides in call order: golden ones stand where the target nodes around their counterparts stand. */
function merged(graph: Graph, target: Flags, golden: Flags | null): Int32Array {
  const { pairs } = graph;
  let total = 0;
  for (let node = 1; node < target.length; node++) total += target[node];
  if (golden) for (let node = 1; node < golden.length; node++) total += golden[node];
  const rows = new Int32Array(total);
  let used = 0;
  let next = 1;
  const goldenUpTo = (limit: number): void => {
    if (!golden || !graph.golden) return;
    for (; next < limit; next++) {
      if (!golden[next]) continue;
      const pair = graph.golden.pair[next];
      if (pair >= 0) {
        const partners = pairNodes(pairs, pair, 'target');
        let listed = false;
        for (let k = 0; k < partners.length && !listed; k++) listed = target[partners[k]] === 1;
        if (listed) continue;
      }
      rows[used++] = -1 - next;
    }
  };
  for (let node = 1; node < target.length; node++) {
    const pair = graph.target.pair[node];
    if (pair >= 0 && golden) goldenUpTo(pairNodes(pairs, pair, 'golden')[0]);
    if (target[node]) rows[used++] = node;
  }
  if (golden) goldenUpTo(golden.length);
  return rows.slice(0, used);
}

const SEVERITY_OF_CAUSE = [0, 1, 9, 8, 7, 5, 2]; // none, clean, parameter, introduced, amplified, inherited, recovered
const SEVERITY_OF_STATUS = [0, 1, 4, 6, 3];
const UNMATCHED_SEVERITY = 4;

/** How bad a row is, for sorting: causes first. */
export function severity(graph: Graph, pair: number): number {
  if (pair < 0) return UNMATCHED_SEVERITY;
  return Math.max(SEVERITY_OF_CAUSE[graph.verdicts.cause[pair]] ?? 0, SEVERITY_OF_STATUS[graph.verdicts.status[pair]] ?? 0);
}

const bits = new Uint32Array(1);
const asFloat = new Float32Array(bits.buffer);

/** A number from 0 to 2^32 - 1 that grows with the value; nothing measured sorts last. */
function rank(value: number): number {
  if (Number.isNaN(value) || value < 0) return 0;
  asFloat[0] = value;
  return bits[0] + 1;
}

const INDEX_BITS = 2 ** 21;

/** Largest first, equal ones in call order. Sorts packed numbers, which is several times faster than a comparator. */
function sorted(graph: Graph, rows: Int32Array, order: Order): Int32Array {
  if (rows.length > INDEX_BITS) return rows;
  const keys = new Float64Array(rows.length);
  for (let i = 0; i < rows.length; i++) {
    const side = rows[i] >= 0 ? graph.target : (graph.golden ?? graph.target);
    const pair = side.pair[rows[i] >= 0 ? rows[i] : -1 - rows[i]];
    const value = pair < 0 ? Number.NaN : order === 'gain' ? gain(graph, pair) : worstError(graph, pair);
    // Severity in the highest bits, the error's most significant bits below it.
    const key = order === 'severity' ? severity(graph, pair) * 2 ** 27 + Math.floor(rank(value) / 32) : rank(value);
    keys[i] = (2 ** 32 - 1 - Math.min(key, 2 ** 32 - 1)) * INDEX_BITS + i;
  }
  keys.sort();
  return rows.map((_, i) => rows[keys[i] % INDEX_BITS]);
}
