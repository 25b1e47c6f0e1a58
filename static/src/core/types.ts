/** The records that every part of the viewer shares: one graph file, decoded into columns; and what leads from one to another. Pure. */
import type { Summary } from '../wire/graph_pb.js';
import type { StringTable } from './strings';

export type SideName = 'target' | 'golden';
export const SIDES: readonly SideName[] = ['target', 'golden'];

export function otherSide(side: SideName): SideName {
  return side === 'target' ? 'golden' : 'target';
}

/** Numbers as in proto/graph.proto. */
export const NodeKind = { root: 0, module: 1, api: 2, apiCollection: 3, parametersGrad: 4, unplaced: 5 } as const;
export const Direction = { none: 0, forward: 1, backward: 2 } as const;
export const Relation = { same: 0, concat: 1, sum: 2, stack: 3 } as const;
export const How = { exact: 0, mapping: 1, normalised: 2, fuzzy: 3, structural: 4, manual: 5 } as const;
export const Status = { none: 0, pass: 1, warning: 2, error: 3, notComparable: 4 } as const;
export const Cause = { none: 0, clean: 1, parameter: 2, introduced: 3, amplified: 4, inherited: 5, recovered: 6 } as const;

/** The same as words, in the order of their numbers. */
export const RELATION_WORDS = Object.keys(Relation) as (keyof typeof Relation)[];
export const HOW_WORDS = Object.keys(How) as (keyof typeof How)[];

export const FLAG_RECOMPUTED = 1;
export const NO_CALL = -1;

/**
 * One graph in columns, one element per node. Nodes are numbered in pre-order with siblings in call order; node 0 is
 * the root. Node i's subtree is the range [i, end[i]); its first child is i + 1; the next sibling of i is end[i].
 */
export interface Side {
  readonly count: number;
  readonly depth: Uint16Array;
  readonly parent: Int32Array; // -1 for the root
  readonly end: Int32Array;
  readonly head: Uint32Array; // into Graph.strings
  readonly call: Int32Array; // NO_CALL where a name has no call number
  readonly tail: Uint32Array; // into Graph.strings
  readonly kind: Uint8Array;
  readonly direction: Uint8Array;
  readonly microStep: Uint16Array;
  readonly flags: Uint8Array;
  readonly overflow: Uint8Array | null; // 0 none, 1 medium, 2 high, 3 critical; null without the overflow check
  readonly pair: Int32Array; // pair number, -1 = unmatched
}

/** What the converter says (converter/messages.py): the English sentence, and what another language makes its own of. */
export interface Said {
  readonly code: string;
  readonly text: string;
  readonly arguments: Readonly<Record<string, string | Said | readonly (string | Said)[]>>;
}

/** Correspondences, numbered by their first target node. Compressed rows: see message Pairs. */
export interface Pairs {
  readonly count: number;
  readonly targetEnd: Uint32Array;
  readonly targetNodes: Uint32Array;
  readonly goldenEnd: Uint32Array;
  readonly goldenNodes: Uint32Array;
  readonly relation: Uint8Array;
  readonly how: Uint8Array;
  readonly confidence: Uint8Array; // 0..255 for 0..1
  readonly evidence: Uint32Array; // into evidenceTexts
  readonly evidenceTexts: readonly (string | Said)[];
}

/** Verdicts, one element per pair. Errors are relative; NaN = not measured, Infinity = non-finite on one side. */
export interface Verdicts {
  readonly status: Uint8Array;
  readonly cause: Uint8Array;
  readonly error: Float32Array;
  readonly inputError: Float32Array;
  readonly parameterError: Float32Array;
  readonly reasons: Uint32Array; // bit r = reason code r
}

/** Which graph file: all requests name it, so two tabs never disturb each other. */
export interface GraphKey {
  readonly run: string;
  readonly step: number;
  readonly rank: number;
}

/** One opened graph file without its details (tensors, comparisons, stacks), which are fetched in blocks on demand. */
export interface Graph {
  readonly key: GraphKey;
  readonly version: string;
  readonly summary: Summary;
  readonly strings: StringTable;
  readonly target: Side;
  readonly golden: Side | null; // null in a build (single graph)
  readonly pairs: Pairs;
  readonly verdicts: Verdicts;
}

/** One node of one side. */
export interface NodeRef {
  readonly side: SideName;
  readonly node: number;
}

export function sideOf(graph: Graph, side: SideName): Side | null {
  return side === 'target' ? graph.target : graph.golden;
}

/** Target or golden nodes of a pair, in call order. */
export function pairNodes(pairs: Pairs, pair: number, side: SideName): Uint32Array {
  const { ends, nodes } = nodesOfPairs(pairs, side);
  return nodes.subarray(pair > 0 ? ends[pair - 1] : 0, ends[pair]);
}

/** The columns behind pairNodes, for loops over very many pairs: those of pair i are nodes[ends[i - 1]:ends[i]]. */
export function nodesOfPairs(pairs: Pairs, side: SideName): { readonly ends: Uint32Array; readonly nodes: Uint32Array } {
  return side === 'target' ? { ends: pairs.targetEnd, nodes: pairs.targetNodes } : { ends: pairs.goldenEnd, nodes: pairs.goldenNodes };
}

/** The nodes on the other side that a node is paired with; empty when it is unmatched. */
export function partners(graph: Graph, side: SideName, node: number): Uint32Array {
  const pair = sideOf(graph, side)?.pair[node] ?? -1;
  return pair < 0 ? EMPTY : pairNodes(graph.pairs, pair, otherSide(side));
}

const EMPTY = new Uint32Array(0);

/** Containers that the converter made have no counterpart by nature: nothing is missing where they have none. */
export function mayHaveCounterpart(kind: number): boolean {
  return kind !== NodeKind.root && kind !== NodeKind.apiCollection && kind !== NodeKind.unplaced;
}
