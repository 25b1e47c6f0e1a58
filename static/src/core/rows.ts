/** Which nodes are on the page: a walk over what is expanded, with repeats folded. Nothing below a collapsed node is touched. */
import { EXPANDED, openStateOf, type Folds, type OpenState } from './folds';
import { NodeKind, sideOf, type Graph, type SideName } from './types';

const ROW_BOX = 0;
export const ROW_PILL = 1;
export const ROW_OPEN = 2; // an expanded container: its children follow
export const ROW_FOLD = 4; // stands for several siblings

/** Rows in pre-order, hence sorted by node. `end[r]` is behind the last node that row r stands for (an open container: node + 1). */
export interface Rows {
  readonly count: number;
  readonly node: Int32Array;
  readonly end: Int32Array;
  readonly flags: Uint8Array;
  readonly rowOf: Int32Array; // per node of the side: its row, -1 = not on the page under its own number
}

const ROWS_AT_FIRST = 1 << 17;

/** Buffers that are reused from one layout to the next and grow when they must. */
export class RowBuffer {
  node: Int32Array;
  end: Int32Array;
  flags: Uint8Array;
  readonly rowOf: Int32Array;
  private used = 0;

  constructor(nodeCount: number) {
    const size = Math.max(1, Math.min(nodeCount, ROWS_AT_FIRST));
    this.node = new Int32Array(size);
    this.end = new Int32Array(size);
    this.flags = new Uint8Array(size);
    this.rowOf = new Int32Array(nodeCount).fill(-1);
  }

  clear(): void {
    const { node, rowOf, used } = this;
    if (used * 8 > rowOf.length) rowOf.fill(-1);
    else for (let r = 0; r < used; r++) rowOf[node[r]] = -1;
    this.used = 0;
  }

  /** The first `used` rows are what the page shows. */
  rows(used: number): Rows {
    this.used = used;
    return { count: used, node: this.node.subarray(0, used), end: this.end.subarray(0, used), flags: this.flags.subarray(0, used), rowOf: this.rowOf };
  }

  grow(): void {
    const size = this.node.length * 2;
    const wider = <T extends Int32Array | Uint8Array>(made: T, from: T): T => {
      made.set(from);
      return made;
    };
    this.node = wider(new Int32Array(size), this.node);
    this.end = wider(new Int32Array(size), this.end);
    this.flags = wider(new Uint8Array(size), this.flags);
  }
}

/** `microStep` -1 shows all micro steps. */
export function fillRows(buffer: RowBuffer, graph: Graph, which: SideName, state: OpenState, folds: Folds, microStep: number): Rows {
  buffer.clear();
  const side = sideOf(graph, which);
  const open = openStateOf(state, which);
  if (!side || !open) return buffer.rows(0);
  const { end, kind, parent, depth, count } = side;
  const { rowOf } = buffer;
  let { node: nodes, end: ends, flags } = buffer;
  let used = 0;
  for (let node = 1; node < count; ) {
    const own = end[node];
    if (microStep >= 0 && depth[node] === 1 && side.microStep[node] !== microStep) {
      node = own;
      continue;
    }
    const leaf = own === node + 1;
    let stop = own;
    let flag = ROW_BOX;
    if (leaf && (kind[node] === NodeKind.api || kind[node] === NodeKind.parametersGrad)) flag = ROW_PILL;
    else {
      if (kind[node] === NodeKind.module) stop = foldFrom(which, node, side, parent, folds, state);
      if (stop > own) flag = ROW_FOLD;
      else if (!leaf && open[node] & EXPANDED) {
        flag = ROW_OPEN;
        stop = node + 1;
      }
    }
    if (used === nodes.length) {
      buffer.grow();
      ({ node: nodes, end: ends, flags } = buffer);
    }
    nodes[used] = node;
    ends[used] = stop;
    flags[used] = flag;
    rowOf[node] = used++;
    node = stop;
  }
  return buffer.rows(used);
}

function foldFrom(which: SideName, node: number, side: { end: Int32Array; count: number }, parent: Int32Array, folds: Folds, state: OpenState): number {
  const { end } = side;
  let last = node;
  let next = end[node];
  if (next >= side.count || parent[next] !== parent[node] || !folds.continues(which, node, next) || !folds.foldable(which, state, node)) return next;
  while (next < side.count && parent[next] === parent[node] && folds.continues(which, last, next) && folds.foldable(which, state, next)) {
    last = next;
    next = end[next];
  }
  return next;
}

/** The row that shows a node: its own, or that of the collapsed ancestor or fold around it; -1 when it is filtered out. */
export function rowShowing(rows: Rows, node: number): number {
  const own = rows.rowOf[node];
  if (own >= 0) return own;
  let low = 0;
  let high = rows.count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows.node[middle] <= node) low = middle + 1;
    else high = middle;
  }
  const row = low - 1;
  return row >= 0 && node < rows.end[row] ? row : -1;
}
