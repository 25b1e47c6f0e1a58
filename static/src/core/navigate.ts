/** Where the arrow keys lead: moves over the rows of one side. */
import type { Layout } from './layout';
import { paneOf } from './layout';
import { ROW_FOLD, ROW_OPEN, rowShowing } from './rows';
import { partners, sideOf, otherSide, type Graph, type NodeRef } from './types';

export type Move = 'up' | 'down' | 'first' | 'last' | 'pageUp' | 'pageDown';
const PAGE = 12;

/** The node that a move leads to; the same node at an end. */
export function step(layout: Layout, from: NodeRef, move: Move): NodeRef {
  const pane = paneOf(layout, from.side);
  if (!pane || pane.rows.count === 0) return from;
  const { rows } = pane;
  const row = Math.max(0, rowShowing(rows, from.node));
  const to = { up: row - 1, down: row + 1, first: 0, last: rows.count - 1, pageUp: row - PAGE, pageDown: row + PAGE }[move];
  const node = rows.node[Math.min(rows.count - 1, Math.max(0, to))];
  return { side: from.side, node };
}

/** What the left arrow means: collapse an open container, else go to the parent. */
export function leftOf(graph: Graph, layout: Layout, from: NodeRef): { collapse: boolean; to: NodeRef } {
  const pane = paneOf(layout, from.side);
  const side = sideOf(graph, from.side);
  if (!pane || !side) return { collapse: false, to: from };
  const row = pane.rows.rowOf[from.node];
  if (row >= 0 && pane.rows.flags[row] & ROW_OPEN) return { collapse: true, to: from };
  const parent = side.parent[from.node];
  return { collapse: false, to: parent > 0 ? { side: from.side, node: parent } : from };
}

/** What the right arrow means: expand a collapsed container or fold, else go to the first child. */
export function rightOf(graph: Graph, layout: Layout, from: NodeRef): { expand: boolean; to: NodeRef } {
  const pane = paneOf(layout, from.side);
  const side = sideOf(graph, from.side);
  if (!pane || !side) return { expand: false, to: from };
  const row = pane.rows.rowOf[from.node];
  if (row < 0) return { expand: false, to: from };
  const flags = pane.rows.flags[row];
  if (flags & ROW_OPEN) return { expand: false, to: { side: from.side, node: from.node + 1 } };
  const branch = side.end[from.node] > from.node + 1;
  return { expand: branch || (flags & ROW_FOLD) !== 0, to: from };
}

/** The partner on the other side, or the nearest node before it that has one. */
export function across(graph: Graph, from: NodeRef): NodeRef | null {
  const to = otherSide(from.side);
  if (!sideOf(graph, to)) return null;
  for (let node = from.node; node > 0; node--) {
    const found = partners(graph, from.side, node);
    if (found.length > 0) return { side: to, node: found[0] };
  }
  return { side: to, node: 1 };
}
