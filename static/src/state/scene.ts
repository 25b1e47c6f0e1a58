/** What is on the screen right now, from the state: draw lists of both sides, what lies under the mouse, what is outlined. */
import { collect, pick, rowRectangle, type BoxItem, type DrawList, type Window } from '../core/drawlist';
import { paneOf } from '../core/layout';
import { ROW_PILL, rowShowing } from '../core/rows';
import { pairNodes, sideOf, SIDES, type NodeRef, type SideName } from '../core/types';
import { graph, hovered, marked, selection } from './app';
import { camera, canvasSize, layout, paneLeft, paneWidth, producers } from './view';

function paneWindow(side: SideName): Window {
  return { x: paneLeft(side), width: paneWidth.value, height: canvasSize.value.height };
}

export function drawLists(): DrawList[] {
  const open = graph.value;
  const arranged = layout.value;
  const lists: DrawList[] = [];
  if (!open || !arranged) return lists;
  for (const which of SIDES) {
    const side = sideOf(open, which);
    const pane = paneOf(arranged, which);
    if (side && pane) lists.push(collect(pane, side, which, arranged.width, camera.value, paneWindow(which)));
  }
  return lists;
}

export interface Hit {
  readonly ref: NodeRef;
  readonly item: BoxItem;
}

/** The innermost box at a point of the canvas. */
export function hitAt(x: number, y: number): Hit | null {
  const open = graph.value;
  const arranged = layout.value;
  if (!open || !arranged) return null;
  for (const which of SIDES) {
    const side = sideOf(open, which);
    const pane = paneOf(arranged, which);
    const window = paneWindow(which);
    if (!side || !pane || x < window.x || x > window.x + window.width) continue;
    const row = pick(pane, side, which, arranged.width, camera.value, window, x, y);
    if (row === null) return null;
    return { ref: { side: which, node: pane.rows.node[row] }, item: rowRectangle(pane, side, which, row, arranged.width, camera.value, window) };
  }
  return null;
}

/** The box that shows a node, its own or the one that hides it; null when it is filtered out. */
function boxOf(ref: NodeRef): { item: BoxItem; own: boolean } | null {
  const open = graph.value;
  const arranged = layout.value;
  const pane = arranged && paneOf(arranged, ref.side);
  const side = open && sideOf(open, ref.side);
  const row = pane ? rowShowing(pane.rows, ref.node) : -1;
  if (!arranged || !pane || !side || row < 0) return null;
  return {
    item: rowRectangle(pane, side, ref.side, row, arranged.width, camera.value, paneWindow(ref.side)),
    own: pane.rows.node[row] === ref.node,
  };
}

export function sameNode(a: NodeRef | null, b: NodeRef | null): boolean {
  return a !== null && b !== null && a.side === b.side && a.node === b.node;
}

export interface Outline {
  readonly item: Pick<BoxItem, 'x' | 'y' | 'width' | 'height' | 'header'>;
  readonly pill: boolean;
  readonly style: 'selected' | 'around' | 'hover' | 'marked' | 'producer';
}

export interface Curve {
  readonly fromX: number;
  readonly fromY: number;
  readonly toX: number;
  readonly toY: number;
  readonly strong: boolean;
}

/** Selected boxes of both sides with the curves between them; hover; marks. */
export function overlay(): { outlines: Outline[]; curves: Curve[] } {
  const outlines: Outline[] = [];
  const curves: Curve[] = [];
  const open = graph.value;
  if (!open) return { outlines, curves };
  const outline = (ref: NodeRef, style: Outline['style']): BoxItem | null => {
    const found = boxOf(ref);
    if (!found) return null;
    const hidden = style === 'selected' && !found.own;
    // Several hidden members of a pair may share one box.
    if (!outlines.some((known) => known.item.x === found.item.x && known.item.y === found.item.y)) {
      outlines.push({ item: found.item, pill: (found.item.flags & ROW_PILL) !== 0, style: hidden ? 'around' : style });
    }
    return found.item;
  };
  const chosen = selection.value;
  if (chosen) {
    const pair = sideOf(open, chosen.side)?.pair[chosen.node] ?? -1;
    if (pair < 0) outline(chosen, 'selected');
    else {
      const left = boxes(Array.from(pairNodes(open.pairs, pair, 'target'), (node) => outline({ side: 'target', node }, 'selected')));
      const right = boxes(Array.from(pairNodes(open.pairs, pair, 'golden'), (node) => outline({ side: 'golden', node }, 'selected')));
      for (const a of left) for (const b of right) curves.push({ fromX: a.x + a.width + 3, fromY: handle(a), toX: b.x - 3, toY: handle(b), strong: true });
    }
  }
  for (const ref of producers.value) outline(ref, 'producer');
  for (const ref of marked.value) outline(ref, 'marked');
  if (hovered.value && !sameNode(hovered.value, chosen)) outline(hovered.value, 'hover');
  return { outlines, curves };
}

function boxes(found: (BoxItem | null)[]): BoxItem[] {
  const unique: BoxItem[] = [];
  for (const item of found) if (item && !unique.some((known) => known.row === item.row)) unique.push(item);
  return unique;
}

function handle(item: BoxItem): number {
  return item.y + Math.min(item.header, item.height) / 2;
}
