/** What a person does to the view: opening and folding, selecting, scrolling, zooming. */
import { batch } from '@preact/signals';
import { bringIntoView, clampCamera, smallestScale, zoomAt } from '../core/camera';
import { EXPANDED, openStateOf, UNFOLDED } from '../core/folds';
import { paneOf, type Layout } from '../core/layout';
import { leftOf, rightOf } from '../core/navigate';
import { ROW_FOLD, ROW_OPEN, rowShowing } from '../core/rows';
import { nodesOfPairs, otherSide, pairNodes, partners, sideOf, SIDES, type Graph, type NodeRef, type SideName } from '../core/types';
import { graph, selection, syncExpansion } from './app';
import { camera, canvasSize, folds, layout, openState, openVersion } from './view';

function changed(): void {
  openVersion.value++;
}

function setBits(which: SideName, node: number, bits: number, on: boolean): void {
  const state = openState.value && openStateOf(openState.value, which);
  if (state) state[node] = on ? state[node] | bits : state[node] & ~bits;
}

/** Sets the bits of a node and, while both sides are kept in step, of what it is paired with. */
function setBoth(open: Graph, which: SideName, node: number, bits: number, on: boolean): void {
  setBits(which, node, bits, on);
  if (!syncExpansion.value) return;
  for (const partner of partners(open, which, node)) setBits(otherSide(which), partner, bits, on);
  // Other members of a group open with it.
  const pair = sideOf(open, which)?.pair[node] ?? -1;
  if (pair >= 0) for (const member of pairNodes(open.pairs, pair, which)) setBits(which, member, bits, on);
}

/** Runs a change of what is open and keeps `ref` where it is on the screen. */
function steadily(ref: NodeRef, change: () => void): void {
  const before = topOf(layout.value, ref);
  batch(() => {
    change();
    changed();
  });
  const after = topOf(layout.value, ref);
  if (before !== null && after !== null) moveCamera({ scroll: camera.value.scroll + after - before });
}

function topOf(arranged: Layout | null, ref: NodeRef): number | null {
  const pane = arranged && paneOf(arranged, ref.side);
  const row = pane ? rowShowing(pane.rows, ref.node) : -1;
  return pane && row >= 0 ? pane.top[row] : null;
}

/** Expands or collapses a container; opens a fold. */
export function toggle(ref: NodeRef): void {
  const open = graph.value;
  const pane = layout.value && paneOf(layout.value, ref.side);
  if (!open || !pane) return;
  const row = pane.rows.rowOf[ref.node];
  if (row < 0) return;
  if (pane.rows.flags[row] & ROW_FOLD) openFold(ref);
  else setExpanded(ref, !(pane.rows.flags[row] & ROW_OPEN));
}

function setExpanded(ref: NodeRef, on: boolean): void {
  const open = graph.value;
  const side = open && sideOf(open, ref.side);
  if (!open || !side || side.end[ref.node] === ref.node + 1) return;
  steadily(ref, () => {
    setBoth(open, ref.side, ref.node, EXPANDED, on);
    if (on && syncExpansion.value) showPartnersOfChildren(open, ref.side, ref.node);
  });
}

/**
 * Opens what hides the partners of a container's children. The container itself may have no counterpart (one toolkit wraps
 * what the other does not); its children still stand opposite theirs.
 */
function showPartnersOfChildren(open: Graph, which: SideName, node: number): void {
  const side = sideOf(open, which);
  const to = otherSide(which);
  const other = sideOf(open, to);
  const state = openState.value && openStateOf(openState.value, to);
  if (!side || !other || !state) return;
  const { ends, nodes } = nodesOfPairs(open.pairs, to);
  let last = -1; // what encloses the partners of siblings is mostly the same
  for (let child = node + 1; child < side.end[node]; child = side.end[child]) {
    const pair = side.pair[child];
    if (pair < 0) continue;
    for (let k = pair > 0 ? ends[pair - 1] : 0; k < ends[pair]; k++) {
      const around = other.parent[nodes[k]];
      if (around === last) continue;
      last = around;
      for (let at = around; at > 0 && !(state[at] & EXPANDED); at = other.parent[at]) setBits(to, at, EXPANDED, true);
    }
  }
}

/** Shows every member of the fold that begins at `ref`. */
function openFold(ref: NodeRef): void {
  const open = graph.value;
  const side = open && sideOf(open, ref.side);
  const pane = layout.value && paneOf(layout.value, ref.side);
  const row = pane ? pane.rows.rowOf[ref.node] : -1;
  if (!open || !side || !pane || row < 0) return;
  const end = pane.rows.end[row];
  steadily(ref, () => {
    for (let node = ref.node; node < end; node = side.end[node]) setBoth(open, ref.side, node, UNFOLDED, true);
  });
}

/** Folds the repeats around a node again; a member that holds a cause stays outside. */
export function closeFold(ref: NodeRef): boolean {
  const open = graph.value;
  const side = open && sideOf(open, ref.side);
  if (!open || !side || !folds.value) return false;
  const { first, end } = folds.value.seriesAround(ref.side, ref.node);
  if (end === side.end[first]) return false;
  steadily(ref, () => {
    for (let node = first; node < end; node = side.end[node]) setBoth(open, ref.side, node, UNFOLDED | EXPANDED, false);
  });
  return true;
}

function shownAlone(which: SideName, node: number): boolean {
  const pane = layout.value && paneOf(layout.value, which);
  const row = pane ? pane.rows.rowOf[node] : -1;
  return pane !== null && row >= 0 && !(pane.rows.flags[row] & ROW_FOLD);
}

/** Expands whatever hides a node, on both sides. */
function uncover(open: Graph, which: SideName, node: number): void {
  const side = sideOf(open, which);
  if (!side) return;
  for (let at = side.parent[node]; at > 0; at = side.parent[at]) setBoth(open, which, at, EXPANDED, true);
  setBoth(open, which, node, UNFOLDED, true);
}

export interface SelectOptions {
  /** Expand what hides the node and scroll to it. */
  readonly reveal?: boolean;
  /** Scroll to the box that shows it, without opening anything. */
  readonly show?: boolean;
  /** Scroll so that the node stands in the upper third, even if it is in view already. */
  readonly centre?: boolean;
}

export function select(ref: NodeRef | null, options: SelectOptions = {}): void {
  const open = graph.value;
  if (!open || ref === null) {
    selection.value = null;
    return;
  }
  batch(() => {
    selection.value = ref;
    if (!options.reveal) return;
    const others = partners(open, ref.side, ref.node);
    // Where everything is open, laying it all out again takes longest, and nothing would change.
    if (shownAlone(ref.side, ref.node) && others.every((partner) => shownAlone(otherSide(ref.side), partner))) return;
    uncover(open, ref.side, ref.node);
    for (const partner of others) uncover(open, otherSide(ref.side), partner);
    changed();
  });
  align(open, ref);
  if (options.reveal || options.show || options.centre) showNode(ref, options.centre ?? false);
}

/** Puts the boxes of the selected pair at one height, also where the layout could not (their order differs). */
function align(open: Graph, ref: NodeRef): void {
  const pair = sideOf(open, ref.side)?.pair[ref.node] ?? -1;
  let shift = 0;
  if (pair >= 0 && layout.value) {
    const targetTop = topOf(layout.value, { side: 'target', node: pairNodes(open.pairs, pair, 'target')[0] });
    const goldenTop = topOf(layout.value, { side: 'golden', node: pairNodes(open.pairs, pair, 'golden')[0] });
    if (targetTop !== null && goldenTop !== null) shift = targetTop - goldenTop;
  }
  if (shift === camera.value.goldenShift) return;
  // The side of the selection stays where it is, the other one moves.
  const scroll = ref.side === 'golden' ? camera.value.scroll + shift - camera.value.goldenShift : camera.value.scroll;
  moveCamera({ goldenShift: shift, scroll });
}

function showNode(ref: NodeRef, centre: boolean): void {
  const pane = layout.value && paneOf(layout.value, ref.side);
  const row = pane ? rowShowing(pane.rows, ref.node) : -1;
  if (!pane || row < 0) return;
  const shift = ref.side === 'golden' ? camera.value.goldenShift : 0;
  const height = canvasSize.value.height;
  const bottom = Math.min(pane.bottom[row], pane.top[row] + height / camera.value.scale / 2);
  moveCamera(bringIntoView(camera.value, pane.top[row] + shift, bottom + shift, height, centre));
}

/** While a graph has just been opened the page is still finding its sizes: its first place stays in the upper third. */
let settling = false;
const SETTLE = 1500; // milliseconds

export function settle(): void {
  settling = true;
  setTimeout(() => (settling = false), SETTLE);
}

/** The person has taken over: nothing moves by itself any more. */
export function settled(): void {
  settling = false;
}

/** The panes have another size: what was in view stays in view. */
export function resize(width: number, height: number): void {
  const before = canvasSize.value;
  if (width === before.width && height === before.height) return;
  const open = graph.value;
  const ref = selection.value;
  const shown = ref !== null && inView(ref);
  canvasSize.value = { width, height };
  moveCamera({}); // the page may have become shorter than where it is scrolled to
  if (!open || !ref) return;
  align(open, ref);
  if (settling || before.height === 0) showNode(ref, true);
  else if (shown) showNode(ref, false);
}

function inView(ref: NodeRef): boolean {
  const top = topOf(layout.value, ref);
  if (top === null) return false;
  const y = (top + (ref.side === 'golden' ? camera.value.goldenShift : 0) - camera.value.scroll) * camera.value.scale;
  return y >= 0 && y < canvasSize.value.height;
}

/** Changes parts of the camera, kept inside the page. */
export function moveCamera(change: Partial<{ scroll: number; scale: number; goldenShift: number }>): void {
  const next = clampCamera({ ...camera.value, ...change }, layout.value?.height ?? 0, canvasSize.value.height);
  const now = camera.value;
  if (next.scroll !== now.scroll || next.scale !== now.scale || next.goldenShift !== now.goldenShift) camera.value = next;
}

export function scrollBy(pixels: number): void {
  moveCamera({ scroll: camera.value.scroll + pixels / camera.value.scale });
}

export function zoom(factor: number, at: number): void {
  moveCamera(zoomAt(camera.value, factor, at));
}

/** The whole page in the window, and back to reading size. */
export function toggleOverview(): void {
  if (camera.value.scale < 1) {
    moveCamera({ scale: 1 });
    fitSelection();
  } else moveCamera({ scale: smallestScale(layout.value?.height ?? 0, canvasSize.value.height), scroll: 0 });
}

/** Reading size at the selection, or the selected container as large as fits. */
export function fitSelection(): void {
  const ref = selection.value;
  if (!ref) {
    moveCamera({ scale: 1, scroll: 0 });
    return;
  }
  const pane = layout.value && paneOf(layout.value, ref.side);
  const row = pane ? rowShowing(pane.rows, ref.node) : -1;
  if (!pane || row < 0) return;
  const size = pane.bottom[row] - pane.top[row];
  const scale = Math.min(1, (canvasSize.value.height * 0.9) / Math.max(1, size));
  moveCamera({ scale });
  showNode(ref, true);
}

/** Left arrow. */
export function stepLeft(): void {
  const ref = selection.value;
  if (!graph.value || !layout.value || !ref) return;
  const { collapse, to } = leftOf(graph.value, layout.value, ref);
  if (collapse) setExpanded(ref, false);
  else if (to.node !== ref.node) select(to, { reveal: true });
}

/** Right arrow. */
export function stepRight(): void {
  const ref = selection.value;
  if (!graph.value || !layout.value || !ref) return;
  const { expand, to } = rightOf(graph.value, layout.value, ref);
  if (expand) toggle(ref);
  else if (to.node !== ref.node) select(to, { reveal: true });
}

export function collapseAll(): void {
  const state = openState.value;
  if (!state) return;
  batch(() => {
    state.target.fill(0);
    state.golden?.fill(0);
    changed();
  });
  moveCamera({ scroll: 0 });
}

const EXPAND_LIMIT = 2_000_000;

/** Opens everything below a node (below the root: everything), on both sides. */
export function expandAll(ref: NodeRef | null): void {
  const open = graph.value;
  const state = openState.value;
  if (!open || !state) return;
  const change = (): void => {
    for (const which of SIDES) {
      const side = sideOf(open, which);
      const bits = openStateOf(state, which);
      if (!side || !bits || (ref && ref.side !== which)) continue;
      const from = ref ? ref.node : 1;
      const to = Math.min(ref ? side.end[ref.node] : side.count, from + EXPAND_LIMIT);
      for (let node = from; node < to; node++) {
        if (side.end[node] === node + 1) continue;
        if (ref) setBoth(open, which, node, EXPANDED, true);
        else bits[node] |= EXPANDED;
      }
    }
  };
  if (ref) steadily(ref, change);
  else {
    batch(() => {
      change();
      changed();
    });
  }
}

/** Opens the first levels, as many as stay readable: about `rows` rows. Used when a graph is opened. */
export function openFirstLevels(open: Graph, rows: number): void {
  const side = open.target;
  const queue: number[] = [];
  const repeats = (a: number, b: number): boolean => a >= 0 && folds.value?.continues('target', a, b) === true;
  // Members of a repeat stay in their fold: opening one would take it out.
  const add = (parent: number): void => {
    for (let child = parent + 1, before = -1; child < side.end[parent]; before = child, child = side.end[child]) {
      const next = side.end[child];
      if (!repeats(before, child) && !(next < side.end[parent] && repeats(child, next))) queue.push(child);
    }
  };
  add(0);
  showPartnersOfChildren(open, 'target', 0);
  let shown = queue.length;
  for (let k = 0; k < queue.length && shown < rows; k++) {
    const node = queue[k];
    let children = 0;
    for (let child = node + 1, before = -1; child < side.end[node] && children <= rows; before = child, child = side.end[child]) {
      if (!repeats(before, child)) children++;
    }
    if (children === 0 || shown + children > rows) continue;
    setBoth(open, 'target', node, EXPANDED, true);
    showPartnersOfChildren(open, 'target', node);
    shown += children;
    if (side.depth[node] < 2) add(node);
  }
  changed();
}
