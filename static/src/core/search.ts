/** Runs a query over a graph: columns in, rows out, no request. Rows are encoded as in findings.ts. */
import { worstError } from './findings';
import { nodesWithLiteral, spreadToCalls } from './name_search';
import { NameTest, withEnclosing } from './name_expression';
import { largestFirst, rank } from './ordering';
import { isFetched, type FetchedNumber, type Query } from './query';
import { gain, nodeFlags, pairFlags, type Flags, type SearchIndex } from './search_terms';
import { sideOf, type Graph, type Side, type SideName } from './types';

export const ORDERS = ['call', 'severity', 'error', 'gain'] as const;
export type Order = (typeof ORDERS)[number];

export interface SearchResult {
  readonly rows: Int32Array; // target node, or -1 - golden node
  readonly hits: { readonly target: number; readonly golden: number };
  readonly needsDtypes: boolean; // a dtype: term was passed over because the column is not there
  readonly needs: readonly FetchedNumber[]; // terms of numbers that were passed over for the same reason
}

/** Leaves only nodes of which the pair's and their own flags together say `wanted`. */
function narrow(side: Side, flags: Flags, ofPair: Flags | null, ofNode: Flags | null, wanted: number): void {
  const { pair, count } = side;
  if (ofPair && ofNode) {
    for (let node = 1; node < count; node++) if ((ofNode[node] | (pair[node] < 0 ? 0 : ofPair[pair[node]])) !== wanted) flags[node] = 0;
  } else if (ofPair) {
    for (let node = 1; node < count; node++) if ((pair[node] < 0 ? 0 : ofPair[pair[node]]) !== wanted) flags[node] = 0;
  } else if (ofNode) {
    for (let node = 1; node < count; node++) if (ofNode[node] !== wanted) flags[node] = 0;
  } else if (wanted === 1) flags.fill(0);
}

/**
 * Leaves only nodes whose name fits an expression; a call of an API fits where what encloses it does. Only nodes that are
 * still hits are tested, and what encloses them. Stops for a moment now and then: this is the one part that can take long.
 */
function* narrowByExpression(names: NameTest, side: Side, flags: Flags, literal: Flags, wanted: number): Generator<void> {
  const fits = withEnclosing(side, flags);
  for (let node = 1; node < side.count; ) {
    node = names.narrowForAWhile(fits, literal, node);
    yield;
  }
  narrow(side, flags, null, fits, wanted);
}

function narrowToMicroStep(side: Side, flags: Flags, only: number): void {
  const { microStep } = side;
  for (let node = 1; node < flags.length; node++) if (microStep[node] !== only) flags[node] = 0;
}

/** The nodes of one side that fit, and whether a column was missing. */
function* hitsOf(index: SearchIndex, which: SideName, query: Query, ofPairs: readonly (Flags | null | 'missing')[], onlyMicroStep: number): Generator<void, { flags: Flags; missing: boolean } | null> {
  const side = sideOf(index.graph, which);
  if (!side) return null;
  const flags = new Uint8Array(side.count).fill(1);
  flags[0] = 0;
  let missing = false;
  const last: { readonly names: NameTest; readonly literal: Flags; readonly wanted: number }[] = [];
  for (const [i, term] of query.terms.entries()) {
    const ofPair = ofPairs[i];
    if (ofPair === 'missing') continue;
    if (term.kind === 'name' && term.pattern.expression) {
      const literal = nodesWithLiteral(index.text, side, term.pattern.literal);
      if (!term.not) narrow(side, flags, null, spreadToCalls(side, literal.slice()), 1);
      last.push({ names: new NameTest(index.text, side, term.pattern.expression), literal, wanted: term.not ? 0 : 1 });
      continue;
    }
    const ofNode = nodeFlags(index, which, side, term);
    if (ofNode === 'missing') missing = true;
    else narrow(side, flags, ofPair, ofNode, term.not ? 0 : 1);
  }
  if (onlyMicroStep >= 0) narrowToMicroStep(side, flags, onlyMicroStep);
  for (const { names, literal, wanted } of last) yield* narrowByExpression(names, side, flags, literal, wanted);
  return { flags, missing };
}

/** The same as `search`, in steps of a few milliseconds: yields between them and returns the result. */
export function* searching(index: SearchIndex, query: Query, order: Order, onlyMicroStep = -1): Generator<void, SearchResult> {
  const { graph } = index;
  const ofPairs = query.terms.map((term) => pairFlags(index, term));
  const target = yield* hitsOf(index, 'target', query, ofPairs, onlyMicroStep);
  const golden = yield* hitsOf(index, 'golden', query, ofPairs, onlyMicroStep);
  const found = merged(graph, target?.flags ?? new Uint8Array(1), golden?.flags ?? null);
  return {
    rows: order === 'call' ? found.rows : sorted(graph, found.rows, order),
    hits: { target: found.onTarget, golden: found.rows.length - found.onTarget },
    needs: query.terms.flatMap((term, i) => (ofPairs[i] === 'missing' && term.kind === 'number' && isFetched(term.field) ? [term.field] : [])),
    needsDtypes: (target?.missing ?? false) || (golden?.missing ?? false),
  };
}

/** All hits in the wanted order. A golden node whose counterpart is a hit itself is not listed again. */
export function search(index: SearchIndex, query: Query, order: Order, onlyMicroStep = -1): SearchResult {
  const steps = searching(index, query, order, onlyMicroStep);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Hits of both sides in call order: golden ones stand where the target nodes around their counterparts stand. */
function merged(graph: Graph, target: Flags, golden: Flags | null): { rows: Int32Array; onTarget: number } {
  const { goldenEnd, goldenNodes } = graph.pairs;
  const targetPair = graph.target.pair;
  const goldenPair = graph.golden?.pair;
  const count = target.length;
  const shown = new Uint8Array(graph.pairs.count); // pairs of which a target node is a hit
  let onTarget = 0;
  let most = 0;
  for (let node = 1; node < count; node++) {
    if (!target[node]) continue;
    onTarget++;
    if (targetPair[node] >= 0) shown[targetPair[node]] = 1;
  }
  if (golden && goldenPair) {
    for (let node = 1; node < golden.length; node++) {
      if (golden[node] && goldenPair[node] >= 0 && shown[goldenPair[node]]) golden[node] = 0;
      most += golden[node];
    }
  }
  const rows = new Int32Array(onTarget + most);
  let used = 0;
  let next = 1;
  for (let node = 1; node < count; node++) {
    const pair = targetPair[node];
    if (pair >= 0 && golden && most > 0) {
      const limit = goldenNodes[pair > 0 ? goldenEnd[pair - 1] : 0];
      for (; next < limit; next++) if (golden[next]) rows[used++] = -1 - next;
    }
    if (target[node]) rows[used++] = node;
  }
  if (golden) for (; next < golden.length; next++) if (golden[next]) rows[used++] = -1 - next;
  return { rows, onTarget };
}

const SEVERITY_OF_CAUSE = [0, 1, 9, 8, 7, 5, 2]; // none, clean, parameter, introduced, amplified, inherited, recovered
const SEVERITY_OF_STATUS = [0, 1, 4, 6, 3];
const UNMATCHED_SEVERITY = 4;

/** How bad a row is, for sorting: causes first. */
function severity(graph: Graph, pair: number): number {
  if (pair < 0) return UNMATCHED_SEVERITY;
  return Math.max(SEVERITY_OF_CAUSE[graph.verdicts.cause[pair]] ?? 0, SEVERITY_OF_STATUS[graph.verdicts.status[pair]] ?? 0);
}

/** Largest first, equal ones in call order. */
function sorted(graph: Graph, rows: Int32Array, order: Order): Int32Array {
  const keys = new Uint32Array(rows.length);
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i];
    const pair = row >= 0 ? graph.target.pair[row] : (graph.golden?.pair[-1 - row] ?? -1);
    const value = pair < 0 ? Number.NaN : order === 'gain' ? gain(graph, pair) : worstError(graph, pair);
    // Severity in the highest bits, the error's most significant bits below it.
    keys[i] = order === 'severity' ? severity(graph, pair) * 2 ** 27 + Math.floor(rank(value) / 32) : rank(value);
  }
  return largestFirst(rows, keys);
}
