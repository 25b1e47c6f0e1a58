/** Repeats: siblings that are the same module at consecutive indices (layers.3, layers.4, …) can be shown as one box. */
import type { ClassColumn } from './counts';
import { firstInRange } from './counts';
import type { Names } from './names';
import { childrenOf } from './tree';
import { NodeKind, partners, sideOf, otherSide, Relation, type Graph, type Side, type SideName } from './types';

export const EXPANDED = 1;
export const UNFOLDED = 2; // shown alone although it could be part of a fold

/** What a person did to the nodes of each side: bits EXPANDED and UNFOLDED, one byte a node. */
export interface OpenState {
  readonly target: Uint8Array;
  readonly golden: Uint8Array | null;
}

export function openStateOf(state: OpenState, side: SideName): Uint8Array | null {
  return side === 'target' ? state.target : state.golden;
}

interface Series {
  readonly base: string; // path without the index, with the class
  readonly index: number;
}

/** "Module.decoder.layers.12" of class TransformerLayer is number 12 of its series; null for anything without an index. */
function seriesOf(cache: Map<number, Series | null>, names: Names, side: Side, node: number): Series | null {
  const head = side.head[node];
  let series = cache.get(head);
  if (series === undefined) {
    const { path, type } = names.of(side, node);
    const dot = path.lastIndexOf('.');
    const last = path.slice(dot + 1);
    series = dot >= 0 && last <= '9' /* cheap, and nearly always false for a word */ && /^\d{1,9}$/.test(last) ? { base: `${path.slice(0, dot + 1)} ${type}`, index: Number(last) } : null;
    cache.set(head, series);
  }
  return series;
}

const YES = 1;
const NO = 2;

export class Folds {
  private readonly series = new Map<number, Series | null>();
  /** What `continues` said of each node and its next sibling, 0 = not asked yet: the walk over the rows asks every time. */
  private readonly known: Readonly<Record<SideName, Uint8Array>>;

  constructor(
    private readonly graph: Graph,
    private readonly names: Names,
    private readonly strongTarget: ClassColumn,
    private readonly strongGolden: ClassColumn | null,
    private readonly mask: number,
  ) {
    this.known = { target: new Uint8Array(graph.target.count), golden: new Uint8Array(graph.golden?.count ?? 0) };
  }

  index(side: Side, node: number): number {
    return seriesOf(this.series, this.names, side, node)?.index ?? -1;
  }

  /** Whether `next`, the sibling behind `node`, continues its series. */
  continues(which: SideName, node: number, next: number): boolean {
    const side = sideOf(this.graph, which);
    if (!side) return false;
    if (next !== side.end[node]) return this.compare(which, side, node, next);
    const known = this.known[which];
    if (known[node] === 0) known[node] = this.compare(which, side, node, next) ? YES : NO;
    return known[node] === YES;
  }

  private compare(which: SideName, side: Side, node: number, next: number): boolean {
    if (!this.alike(side, node, next)) return false;
    if (!this.graph.golden) return true;
    const a = this.onlyPartner(which, node);
    const b = this.onlyPartner(which, next);
    if (a === -1 && b === -1) return true;
    if (a < 0 || b < 0) return false;
    // Both sides must fold in the same places, else the boxes would no longer stand opposite each other.
    const other = this.graph[otherSide(which)] as Side;
    return other.end[a] === b && other.parent[a] === other.parent[b] && this.alike(other, a, b);
  }

  private alike(side: Side, node: number, next: number): boolean {
    if (side.kind[node] !== NodeKind.module || side.kind[next] !== NodeKind.module) return false;
    if (side.direction[node] !== side.direction[next] || side.call[node] !== side.call[next]) return false;
    const a = seriesOf(this.series, this.names, side, node);
    const b = seriesOf(this.series, this.names, side, next);
    return a !== null && b !== null && a.base === b.base && Math.abs(a.index - b.index) === 1;
  }

  /** The one node on the other side; -1 unmatched, -2 in a group. */
  private onlyPartner(which: SideName, node: number): number {
    const side = this.graph[which] as Side;
    const pair = side.pair[node];
    if (pair < 0) return -1;
    const nodes = partners(this.graph, which, node);
    return nodes.length === 1 && this.graph.pairs.relation[pair] === Relation.same ? nodes[0] : -2;
  }

  /** A node that a person opened, or that holds a cause, stands alone; so does its partner. */
  foldable(which: SideName, state: OpenState, node: number): boolean {
    if (!this.quiet(which, state, node)) return false;
    const other = otherSide(which);
    for (const partner of partners(this.graph, which, node)) if (!this.quiet(other, state, partner)) return false;
    return true;
  }

  private quiet(which: SideName, state: OpenState, node: number): boolean {
    const side = sideOf(this.graph, which);
    const open = openStateOf(state, which);
    const strong = which === 'target' ? this.strongTarget : this.strongGolden;
    if (!side || !open || !strong) return true;
    return open[node] === 0 && firstInRange(strong, node, side.end[node], this.mask) < 0;
  }

  /** The siblings that form one series around `node`: [first, behind the last). */
  seriesAround(which: SideName, node: number): { first: number; end: number } {
    const side = this.graph[which] as Side;
    const siblings = [...childrenOf(side.end, side.parent[node])];
    let low = siblings.indexOf(node);
    let high = low;
    while (low > 0 && this.continues(which, siblings[low - 1], siblings[low])) low--;
    while (high + 1 < siblings.length && this.continues(which, siblings[high], siblings[high + 1])) high++;
    return { first: siblings[low], end: side.end[siblings[high]] };
  }
}
