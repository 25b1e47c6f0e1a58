/** What marked nodes explain: the pairs that are hidden with them, and the first divergence that is left. Pure. */
import { Cause, Direction, pairNodes, type Graph } from './types';

/** Per pair: 0 as it is, MARKED by a person, EXPLAINED by what is marked inside it. */
export const MARKED = 1;
export const EXPLAINED = 2;

/** Pairs whose cause began in them: candidates for a first divergence. */
function begins(cause: number): boolean {
  return cause === Cause.introduced || cause === Cause.parameter;
}

/** First target nodes of the pairs that began something, in call order, and their pairs. */
function beginnings(graph: Graph): { readonly nodes: readonly number[]; readonly pairs: readonly number[] } {
  const { cause } = graph.verdicts;
  const found: [number, number][] = [];
  for (let pair = 0; pair < cause.length; pair++) if (begins(cause[pair])) found.push([pairNodes(graph.pairs, pair, 'target')[0], pair]);
  found.sort((a, b) => a[0] - b[0]);
  return { nodes: found.map(([node]) => node), pairs: found.map(([, pair]) => pair) };
}

/** Index of the first element that is at least `value`. */
function lowerBound(sorted: readonly number[], value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * [pairs] A pair is marked with any of its nodes, whichever side they are on. A container that introduced a difference is
 * explained where everything that began inside it is marked.
 */
export function expectedPairs(graph: Graph, target: ReadonlySet<number>, golden: ReadonlySet<number>): Uint8Array {
  const state = new Uint8Array(graph.verdicts.cause.length);
  if (state.length === 0) return state;
  const mark = (pair: number): void => {
    if (pair >= 0) state[pair] = MARKED;
  };
  for (const node of target) mark(graph.target.pair[node]);
  for (const node of golden) if (graph.golden) mark(graph.golden.pair[node]);
  const { nodes, pairs } = beginnings(graph);
  const open = new Uint32Array(nodes.length + 1); // how many of those from i on are not marked
  for (let i = nodes.length - 1; i >= 0; i--) {
    const behind = lowerBound(nodes, graph.target.end[nodes[i]]);
    const inside = behind - i - 1;
    if (inside > 0 && state[pairs[i]] === 0 && graph.verdicts.cause[pairs[i]] === Cause.introduced && open[i + 1] === open[behind]) state[pairs[i]] = EXPLAINED;
    open[i] = open[i + 1] + (state[pairs[i]] === 0 ? 1 : 0);
  }
  return state;
}

export interface FirstLeft {
  readonly pair: number; // -1 = everything that began something is marked
  readonly node: number; // its first target node
  readonly before: number; // marked pairs before it that began something
}

/** The earliest pair of a direction that began something and is not hidden; of nested ones the innermost, as the converter says it. */
export function firstLeft(graph: Graph, hidden: Uint8Array, which: 'forward' | 'backward'): FirstLeft {
  const { nodes, pairs } = beginnings(graph);
  const { direction, end } = graph.target;
  const wanted = (i: number): boolean => (direction[nodes[i]] === Direction.backward) === (which === 'backward');
  let found = -1;
  let before = 0;
  for (let i = 0; i < nodes.length; i++) {
    if (found >= 0 && nodes[i] >= end[nodes[found]]) break;
    if (!wanted(i)) continue;
    if (hidden[pairs[i]] === 0) found = i;
    else if (hidden[pairs[i]] === MARKED) before++;
  }
  return { pair: found < 0 ? -1 : pairs[found], node: found < 0 ? -1 : nodes[found], before };
}
