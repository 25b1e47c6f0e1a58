/** The list of findings: pairs and unmatched nodes in call order, filtered and sorted as plain integer columns. */
import { causeClasses, CauseClass } from './colouring';
import { largestFirst, rank } from './ordering';
import { Direction, mayHaveCounterpart, NodeKind, pairNodes, type Graph, type NodeRef, type Side } from './types';

/** What a person can filter by. The first group is joined by "or", the directions restrict the result. */
export const FINDING_GROUPS = ['cause', 'amplified', 'inherited', 'recovered', 'error', 'warning', 'incomparable', 'unmatched', 'unmatchedCalls', 'clean'] as const;
export type FindingGroup = (typeof FINDING_GROUPS)[number];

const GROUP_OF_CLASS: Readonly<Record<number, FindingGroup>> = {
  [CauseClass.parameter]: 'cause',
  [CauseClass.introduced]: 'cause',
  [CauseClass.amplified]: 'amplified',
  [CauseClass.inherited]: 'inherited',
  [CauseClass.recovered]: 'recovered',
  [CauseClass.error]: 'error',
  [CauseClass.warning]: 'warning',
  [CauseClass.incomparable]: 'incomparable',
  [CauseClass.clean]: 'clean',
};

/** One finding a row: a target node, or a golden node without counterpart encoded as -1 - node. */
export interface Findings {
  readonly rows: Int32Array;
  readonly counts: Readonly<Record<FindingGroup, number>>;
}

export interface FindingFilter {
  readonly groups: ReadonlySet<string>;
  readonly forward: boolean;
  readonly backward: boolean;
  readonly microStep: number; // -1 = all
  readonly byError: boolean; // else in call order
  readonly hiddenPairs?: Uint8Array | null; // pairs that marks explain, not 0
  readonly hidden?: ReadonlySet<number>; // target nodes marked as expected; for those without counterpart
  readonly hiddenGolden?: ReadonlySet<number>;
}

export function refOf(row: number): NodeRef {
  return row >= 0 ? { side: 'target', node: row } : { side: 'golden', node: -1 - row };
}

export function rowOfRef(graph: Graph, ref: NodeRef): number {
  if (ref.side === 'target') return ref.node;
  const pair = graph.golden?.pair[ref.node] ?? -1;
  return pair >= 0 ? pairNodes(graph.pairs, pair, 'target')[0] : -1 - ref.node;
}

/** Class a pair under the colour mode "cause"; the lists use it whatever the panes are coloured by. */
export function findingClasses(graph: Graph): Uint8Array {
  return causeClasses(graph.verdicts.status, graph.verdicts.cause);
}

export function findings(graph: Graph, classes: Uint8Array, filter: FindingFilter): Findings {
  const wanted = new Uint8Array(16);
  for (const [cls, group] of Object.entries(GROUP_OF_CLASS)) if (filter.groups.has(group)) wanted[Number(cls)] = 1;
  // Calls of APIs are many where two toolkits write the same module in other code; modules are what a person must look at.
  const lone = { unmatched: 0, unmatchedCalls: 0 };
  const alone = (side: Side, node: number, row: number): void => {
    const group = side.kind[node] === NodeKind.api ? 'unmatchedCalls' : 'unmatched';
    lone[group]++;
    if (filter.groups.has(group)) push(row);
  };
  const tally = new Uint32Array(16);
  const anyDirection = filter.forward === filter.backward;
  const direction = filter.forward ? Direction.forward : Direction.backward;
  const passes = (side: Side, node: number): boolean =>
    (anyDirection || side.direction[node] === direction) && (filter.microStep < 0 || side.microStep[node] === filter.microStep);

  const { target, golden, pairs } = graph;
  let rows = new Int32Array(1024);
  let used = 0;
  const push = (row: number): void => {
    if (used === rows.length) {
      const wider = new Int32Array(rows.length * 2);
      wider.set(rows);
      rows = wider;
    }
    rows[used++] = row;
  };

  // Golden nodes without counterpart stand behind the target node that their predecessor is paired with.
  let g = 1;
  const goldenUpTo = (limit: number): void => {
    if (!golden) return;
    for (; g < limit; g++) {
      if (golden.pair[g] >= 0 || !mayHaveCounterpart(golden.kind[g]) || !passes(golden, g) || filter.hiddenGolden?.has(g)) continue;
      alone(golden, g, -1 - g);
    }
  };
  for (let node = 1; node < target.count; node++) {
    const pair = target.pair[node];
    if (pair >= 0) {
      if (golden) {
        const first = pairs.goldenNodes[pair > 0 ? pairs.goldenEnd[pair - 1] : 0];
        if (first > g) goldenUpTo(first);
      }
      const start = pair > 0 ? pairs.targetEnd[pair - 1] : 0;
      if (pairs.targetNodes[start] !== node || !passes(target, node)) continue; // one row a pair
      if (filter.hiddenPairs?.[pair]) continue;
      const cls = classes[pair];
      tally[cls]++;
      if (wanted[cls]) push(node);
    } else if (golden && mayHaveCounterpart(target.kind[node]) && passes(target, node)) {
      if (filter.hidden?.has(node)) continue;
      alone(target, node, node);
    }
  }
  if (golden) goldenUpTo(golden.count);

  const found = rows.slice(0, used);
  if (filter.byError) sortByError(graph, found);
  const groupCounts = Object.fromEntries(FINDING_GROUPS.map((group) => [group, 0])) as Record<FindingGroup, number>;
  for (const [cls, group] of Object.entries(GROUP_OF_CLASS)) groupCounts[group] += tally[Number(cls)];
  return { rows: found, counts: { ...groupCounts, ...lone } };
}

/** Largest error first; non-finite ones above all, unmeasured ones behind, those without counterpart last. */
function sortByError(graph: Graph, rows: Int32Array): void {
  const keys = new Uint32Array(rows.length);
  for (let i = 0; i < rows.length; i++) {
    const pair = rows[i] >= 0 ? graph.target.pair[rows[i]] : -1;
    keys[i] = pair < 0 ? 0 : 1 + rank(worstError(graph, pair));
  }
  rows.set(largestFirst(rows, keys));
}

/** The error that a list shows for a pair: its outputs', or its parameters' where that is what differs. */
export function worstError(graph: Graph, pair: number): number {
  const { error, parameterError } = graph.verdicts;
  const a = error[pair];
  const b = parameterError[pair];
  if (Number.isNaN(a)) return b;
  return Number.isNaN(b) ? a : Math.max(a, b);
}

/** Index of the finding behind (`direction` 1) or before (-1) a node in call order, round the end; -1 when there are none. */
export function neighbour(rows: Int32Array, current: number, direction: 1 | -1): number {
  if (rows.length === 0) return -1;
  const at = rows.indexOf(current);
  if (at >= 0) return (at + direction + rows.length) % rows.length;
  // The selection is no finding itself: the nearest target row in call order decides.
  if (current < 0) return direction === 1 ? 0 : rows.length - 1;
  if (direction === 1) {
    const next = rows.findIndex((row) => row > current);
    return next < 0 ? 0 : next;
  }
  for (let i = rows.length - 1; i >= 0; i--) if (rows[i] >= 0 && rows[i] < current) return i;
  return rows.length - 1;
}
