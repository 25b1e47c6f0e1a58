/**
 * Positions of everything on the page, for both sides together: paired nodes stand at the same height, like the lines of
 * a side-by-side diff, whatever container holds them. Where one side has nothing, a gap is left and remembered.
 *
 * Both sides become sequences of events (a box opens, a container closes). Pairs whose order agrees are anchors (longest
 * increasing subsequence); between anchors each side is stacked on its own, at an anchor the side that is behind waits.
 */
import { CONTENT_LEFT, GAP, HEADER, PAD_BOTTOM, PILL, PILL_GAP, PILL_PADDING, PILL_STEP, boxWidth } from './geometry';
import { ROW_OPEN, ROW_PILL, type Rows } from './rows';
import { Relation, sideOf, type Graph, type SideName } from './types';

export interface Gap {
  readonly top: number;
  readonly bottom: number;
  readonly depth: number;
  readonly count: number; // nodes that only the other side has, opposite this gap
}

/** Positions of the rows of one side, in layout units; y grows downwards from 0. */
export interface Pane {
  readonly rows: Rows;
  readonly top: Int32Array;
  readonly bottom: Int32Array; // of an open container: below its last child
  readonly pillX: Uint16Array; // from the container's content left; 0 for boxes
  readonly pillWidth: Uint16Array;
  readonly gaps: readonly Gap[];
  readonly height: number;
}

export interface Layout {
  readonly target: Pane;
  readonly golden: Pane | null;
  readonly width: number; // of one pane
  readonly height: number;
}

export function paneOf(layout: Layout, side: SideName): Pane | null {
  return side === 'target' ? layout.target : layout.golden;
}

const SMALLEST_GAP = 20;
const INFINITE = 0x7fffffff;
const DEPTHS_KEPT = 256;
const NOTHING = new Uint16Array(0);

/** One side while it is being stacked. Called several times for every row, hence plain fields and no closures. */
class Stack {
  readonly events: Int32Array; // row * 2, + 1 where a container closes
  readonly openAt: Int32Array; // row → index of its opening event; golden side only
  readonly closeAt: Int32Array; // row → index of its closing event; of containers on the golden side only
  readonly top: Int32Array;
  readonly bottom: Int32Array;
  readonly pillX: Uint16Array;
  readonly pillWidth: Uint16Array;
  readonly gaps: Gap[] = [];
  private readonly nodes: Int32Array;
  private readonly flags: Uint8Array;
  private readonly widths = new Uint16Array(DEPTHS_KEPT); // by depth, 0 = not worked out yet
  private y = 0;
  private flowY = -1; // top of the row of pills being filled; all of them are siblings
  private flowX = 0;
  private flowWidth = 0; // how much room the row has

  constructor(
    readonly rows: Rows,
    private readonly depth: Uint16Array,
    end: Int32Array,
    private readonly width: number,
    pillTextWidth: (node: number) => number,
    known: Uint16Array,
    indexed: boolean,
  ) {
    const { count, node: nodes, flags } = rows;
    this.nodes = nodes;
    this.flags = flags;
    let containers = 0;
    for (let r = 0; r < count; r++) if (flags[r] & ROW_OPEN) containers++;
    const events = new Int32Array(count + containers);
    const openAt = new Int32Array(indexed ? count : 0); // writing beyond the end of a typed array does nothing
    const closeAt = new Int32Array(indexed ? count : 0);
    const pillWidth = new Uint16Array(count);
    const pending: number[] = [];
    let nearest = INFINITE; // behind the last node of the innermost open container
    let at = 0;
    for (let r = 0; r < count; r++) {
      const node = nodes[r];
      while (nearest <= node) {
        const row = pending.pop() as number;
        closeAt[row] = at;
        events[at++] = row * 2 + 1;
        nearest = pending.length > 0 ? end[nodes[pending[pending.length - 1]]] : INFINITE;
      }
      openAt[r] = at;
      events[at++] = r * 2;
      if (flags[r] & ROW_PILL) {
        const wanted = (known[node] > 0 ? known[node] - 1 : Math.ceil(pillTextWidth(node))) + PILL_PADDING;
        const most = this.contentWidth(depth[node]);
        pillWidth[r] = wanted <= most ? wanted : most;
      } else if (flags[r] & ROW_OPEN) {
        pending.push(r);
        nearest = end[node];
      }
    }
    while (pending.length > 0) {
      const row = pending.pop() as number;
      closeAt[row] = at;
      events[at++] = row * 2 + 1;
    }
    this.events = events;
    this.openAt = openAt;
    this.closeAt = closeAt;
    this.pillWidth = pillWidth;
    this.top = new Int32Array(count);
    this.bottom = new Int32Array(count);
    this.pillX = new Uint16Array(count);
  }

  /** The first place at or below `y` where the event can lie: a pill stays in the line begun or starts one below it. */
  atLeast(event: number, y: number): number {
    const { flowY } = this;
    if (flowY < 0) return y > this.y ? y : this.y;
    const row = event >> 1;
    if (y <= flowY && (event & 1) === 0 && this.flags[row] & ROW_PILL && this.flowX + this.pillWidth[row] <= this.flowWidth) return flowY;
    return y > flowY + PILL_STEP ? y : flowY + PILL_STEP;
  }

  /** Pills use the width of the container's content; at the root that of the pane. */
  private contentWidth(depth: number): number {
    const known = depth < DEPTHS_KEPT ? this.widths[depth] : 0;
    if (known > 0) return known;
    const room = depth > 1 ? boxWidth(depth - 1, this.width) - CONTENT_LEFT - PILL_GAP * 2 : this.width;
    const width = Math.max(1, Math.min(Math.floor(room), 65535));
    this.widths[depth] = width; // writing beyond the end of a typed array does nothing
    return width;
  }

  /** Puts the event at `y`, a place that atLeast(event, …) gave. `missing`: what only the other side has since the last anchor. */
  place(event: number, y: number, missing: number): void {
    const row = event >> 1;
    if (missing > 0) {
      const free = this.finish();
      if (y - free >= SMALLEST_GAP) this.rememberGap(event, free, y, missing);
    }
    if (event & 1) {
      // The last child left GAP below it; the container's own padding replaces that.
      const bottom = Math.max(y - GAP, this.top[row] + HEADER) + PAD_BOTTOM;
      this.bottom[row] = bottom;
      this.flowY = -1;
      this.y = bottom + GAP;
      return;
    }
    const flags = this.flags[row];
    this.top[row] = y;
    if (flags & ROW_PILL) {
      const width = this.pillWidth[row];
      if (y !== this.flowY || this.flowX + width > this.flowWidth) {
        this.flowY = y;
        this.flowX = 0;
        this.flowWidth = this.contentWidth(this.depth[this.nodes[row]]);
      }
      this.pillX[row] = Math.min(this.flowX, 65535);
      this.bottom[row] = y + PILL;
      this.flowX += width + PILL_GAP;
    } else {
      this.flowY = -1;
      this.bottom[row] = y + HEADER;
      this.y = flags & ROW_OPEN ? y + HEADER : y + HEADER + GAP;
    }
  }

  private rememberGap(event: number, from: number, to: number, missing: number): void {
    const row = event >> 1;
    const depth = this.depth[this.nodes[row]] + (event & 1);
    this.gaps.push({ top: from, bottom: to - GAP, depth, count: missing });
  }

  /** Below everything placed so far. */
  finish(): number {
    return this.flowY >= 0 ? this.flowY + PILL_STEP : this.y;
  }

  pane(): Pane {
    return { rows: this.rows, top: this.top, bottom: this.bottom, pillX: this.pillX, pillWidth: this.pillWidth, gaps: this.gaps, height: this.finish() };
  }
}

/** Indices of a longest increasing subsequence of `values`; null when all of them increase already, which is the rule. */
export function longestIncreasing(values: Int32Array): Int32Array | null {
  const n = values.length;
  let sorted = true;
  for (let i = 1; i < n && sorted; i++) sorted = values[i - 1] < values[i];
  if (sorted) return null;
  const tails = new Int32Array(n); // tails[k]: index of the smallest last value of a subsequence of length k + 1
  const before = new Int32Array(n);
  let length = 0;
  for (let i = 0; i < n; i++) {
    let low = 0;
    let high = length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (values[tails[middle]] < values[i]) low = middle + 1;
      else high = middle;
    }
    before[i] = low > 0 ? tails[low - 1] : -1;
    tails[low] = i;
    if (low === length) length++;
  }
  const result = new Int32Array(length);
  for (let k = length - 1, i = tails[length - 1]; k >= 0; k--, i = before[i]) result[k] = i;
  return result;
}

/** Events of both sides that belong together, in the order of both. */
function anchors(graph: Graph, a: Stack, b: Stack): { a: Int32Array; b: Int32Array } {
  const most = Math.min(a.events.length, b.events.length);
  const fromA = new Int32Array(most);
  const fromB = new Int32Array(most);
  let found = 0;
  const { targetEnd, targetNodes, goldenEnd, goldenNodes, relation } = graph.pairs;
  const { pair: pairs } = graph.target;
  const { events } = a;
  const { node: nodes, rowOf } = a.rows;
  const { rowOf: goldenRowOf, flags: goldenFlags } = b.rows;
  for (let at = 0; at < events.length; at++) {
    const event = events[at];
    const node = nodes[event >> 1];
    const pair = pairs[node];
    // Of a group the first member that is on the page stands for all; a node that is the first of its pair is on it.
    if (pair < 0 || (targetNodes[pair > 0 ? targetEnd[pair - 1] : 0] !== node && firstShown(targetEnd, targetNodes, pair, rowOf) !== node)) continue;
    const golden = firstShown(goldenEnd, goldenNodes, pair, goldenRowOf);
    if (golden < 0) continue;
    const goldenRow = goldenRowOf[golden];
    if ((event & 1) === 0) fromB[found] = b.openAt[goldenRow];
    else if (relation[pair] === Relation.same && goldenFlags[goldenRow] & ROW_OPEN) fromB[found] = b.closeAt[goldenRow];
    else continue;
    fromA[found++] = at;
  }
  const columnA = fromA.subarray(0, found);
  const columnB = fromB.subarray(0, found);
  const kept = longestIncreasing(columnB);
  return kept ? { a: kept.map((i) => columnA[i]), b: kept.map((i) => columnB[i]) } : { a: columnA, b: columnB };
}

function firstShown(ends: Uint32Array, nodes: Uint32Array, pair: number, rowOf: Int32Array): number {
  for (let k = pair > 0 ? ends[pair - 1] : 0; k < ends[pair]; k++) if (rowOf[nodes[k]] >= 0) return nodes[k];
  return -1;
}

export interface LayoutOptions {
  readonly width: number; // of one pane, in layout units
  /** Width of the text of a pill, in layout units. */
  readonly pillTextWidth: (side: SideName, node: number) => number;
  /** What that said before, a node plus 1 (0 = not asked yet): a call for each of a million nodes would take longer than all the rest. */
  readonly knownTextWidths?: Readonly<Record<SideName, Uint16Array>>;
}

export function arrange(graph: Graph, targetRows: Rows, goldenRows: Rows | null, options: LayoutOptions): Layout {
  const stackOf = (rows: Rows, which: SideName): Stack => {
    const side = sideOf(graph, which);
    if (!side) throw new Error(`no ${which} side`);
    return new Stack(rows, side.depth, side.end, options.width, (node) => options.pillTextWidth(which, node), options.knownTextWidths?.[which] ?? NOTHING, which === 'golden');
  };
  const a = stackOf(targetRows, 'target');
  const b = goldenRows ? stackOf(goldenRows, 'golden') : null;
  let atA = 0;
  let atB = 0;
  if (b) {
    const found = anchors(graph, a, b);
    for (let k = 0; k < found.a.length; k++) {
      const missingB = atA < found.a[k] ? run(graph, 'target', a, atA, found.a[k]) : 0;
      const missingA = atB < found.b[k] ? run(graph, 'golden', b, atB, found.b[k]) : 0;
      atA = found.a[k];
      atB = found.b[k];
      const eventA = a.events[atA];
      const eventB = b.events[atB];
      let y = a.atLeast(eventA, 0);
      // Each side may have to go further down than the other asks for; both agree after few rounds since y only grows.
      for (let other = b.atLeast(eventB, y); other !== y; other = b.atLeast(eventB, y)) y = a.atLeast(eventA, other);
      a.place(eventA, y, missingA);
      b.place(eventB, y, missingB);
      atA++;
      atB++;
    }
  }
  const missingB = run(graph, 'target', a, atA, a.events.length);
  if (b) {
    const missingA = run(graph, 'golden', b, atB, b.events.length);
    closeGap(a, b, missingB);
    closeGap(b, a, missingA);
  }
  const target = a.pane();
  const golden = b ? b.pane() : null;
  return { target, golden, width: options.width, height: Math.max(target.height, golden?.height ?? 0) };
}

/** At the end of the page: the shorter side has nothing opposite the last `missing` nodes of the other one. */
function closeGap(longer: Stack, shorter: Stack, missing: number): void {
  const from = shorter.finish();
  const to = longer.finish();
  if (missing > 0 && to - from >= SMALLEST_GAP) shorter.gaps.push({ top: from, bottom: to - GAP, depth: 1, count: missing });
}

/** Stacks events [from, to) without waiting for the other side; returns how many nodes among them have no counterpart. */
function run(graph: Graph, which: SideName, stack: Stack, from: number, to: number): number {
  let unmatched = 0;
  const side = graph[which];
  for (let at = from; at < to; at++) {
    const event = stack.events[at];
    stack.place(event, stack.atLeast(event, 0), 0);
    if (side && (event & 1) === 0) {
      const row = event >> 1;
      const node = stack.rows.node[row];
      if (side.pair[node] < 0 && !(stack.rows.flags[row] & ROW_OPEN)) unmatched += stack.rows.end[row] - node;
    }
  }
  return unmatched;
}

