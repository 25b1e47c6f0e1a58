/**
 * What is to be drawn of one side, in window pixels, and nothing about how. The size of a list is bounded by the height
 * of the window, never by the number of nodes: rows are found by binary search, rows lower than a few pixels are merged.
 */
import { scaleX, toLayout, toWindow, type Camera } from './camera';
import type { ClassColumn } from './counts';
import { countRange, CLASS_LIMIT } from './counts';
import { BAR, CONTENT_LEFT, HEADER, PILL, PILL_STEP, boxWidth, insetLeft } from './geometry';
import type { Pane } from './layout';
import { ROW_FOLD, ROW_OPEN, ROW_PILL } from './rows';
import type { Side, SideName } from './types';

export interface BoxItem {
  readonly row: number;
  readonly node: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly header: number; // height of the header
  readonly flags: number; // of rows.ts
  readonly end: number; // behind the last node that the row stands for
  readonly branch: boolean; // has children to expand
}

/** Several rows too low to be drawn one by one: a bar, filled by the share of each class. */
export interface StripItem {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly from: number; // nodes [from, to)
  readonly to: number;
}

export interface GapItem {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly count: number;
}

export interface DrawList {
  readonly side: SideName;
  readonly boxes: BoxItem[]; // containers before what they hold
  readonly pills: BoxItem[];
  readonly strips: StripItem[];
  readonly gaps: GapItem[];
  readonly firstNode: number; // range of nodes in the window; -1 when there is none
  readonly lastNode: number;
}

export interface Window {
  readonly x: number; // left edge of the pane on the canvas
  readonly width: number;
  readonly height: number;
}

const STRIP_BELOW = 9; // header height in pixels under which rows are merged
const STRIP = 3; // height of a merged bar
const DEEPEST_OUTLINE = 24;
const EDGE = 20_000; // pixels beyond the window at which a rectangle is cut: canvases have trouble with huge ones

/** The first row whose top is at or below `y`; rows are in call order, so their tops never decrease. */
export function firstRowFrom(top: Int32Array, y: number): number {
  let low = 0;
  let high = top.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (top[middle] < y) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function collect(pane: Pane, side: Side, which: SideName, layoutWidth: number, camera: Camera, window: Window): DrawList {
  const list: DrawList & { firstNode: number; lastNode: number } = { side: which, boxes: [], pills: [], strips: [], gaps: [], firstNode: -1, lastNode: -1 };
  const upper = toLayout(camera, which, 0);
  const lower = toLayout(camera, which, window.height);
  if (HEADER * camera.scale >= STRIP_BELOW) collectRows(list, pane, side, layoutWidth, camera, window, upper, lower);
  else collectStrips(list, pane, side, layoutWidth, camera, window, upper, lower);
  for (const gap of pane.gaps) {
    if (gap.bottom < upper) continue;
    if (gap.top > lower) break;
    list.gaps.push({
      ...horizontal(gap.depth, layoutWidth, camera, window),
      y: toWindow(camera, which, gap.top),
      height: (gap.bottom - gap.top) * camera.scale,
      count: gap.count,
    });
  }
  return list;
}

function horizontal(depth: number, layoutWidth: number, camera: Camera, window: Window): { x: number; width: number } {
  const k = scaleX(camera);
  return { x: window.x + insetLeft(depth, layoutWidth) * k, width: boxWidth(depth, layoutWidth) * k };
}

/** Window rectangle of a row; a container's whole box. */
export function rowRectangle(pane: Pane, side: Side, which: SideName, row: number, layoutWidth: number, camera: Camera, window: Window): BoxItem {
  const node = pane.rows.node[row];
  const flags = pane.rows.flags[row];
  const y = Math.max(-EDGE, toWindow(camera, which, pane.top[row]));
  const bottom = Math.min(window.height + EDGE, toWindow(camera, which, pane.bottom[row]));
  const depth = side.depth[node];
  const common = { row, node, y, height: Math.max(1, bottom - y), flags, end: pane.rows.end[row], branch: side.end[node] > node + 1 };
  if (flags & ROW_PILL) {
    const k = scaleX(camera);
    const left = depth > 1 ? insetLeft(depth - 1, layoutWidth) + CONTENT_LEFT : 0;
    return { ...common, x: window.x + (left + pane.pillX[row]) * k, width: pane.pillWidth[row] * k, header: PILL * camera.scale };
  }
  return { ...common, ...horizontal(depth, layoutWidth, camera, window), header: HEADER * camera.scale };
}

function collectRows(list: DrawList & { firstNode: number; lastNode: number }, pane: Pane, side: Side, layoutWidth: number, camera: Camera, window: Window, upper: number, lower: number): void {
  const { rows, top, bottom } = pane;
  const first = firstRowFrom(top, upper - HEADER);
  // Containers that began above the window and reach into it: the parents of the first row in it.
  const enclosing: number[] = [];
  let at = first < rows.count ? side.parent[rows.node[first]] : first > 0 ? rows.node[first - 1] : -1;
  while (at > 0) {
    const row = rows.rowOf[at];
    if (row >= 0 && row < first && bottom[row] >= upper && enclosing.length < DEEPEST_OUTLINE * 2) enclosing.push(row);
    at = side.parent[at];
  }
  for (let k = enclosing.length - 1; k >= 0; k--) list.boxes.push(rowRectangle(pane, side, list.side, enclosing[k], layoutWidth, camera, window));
  for (let row = first; row < rows.count && top[row] <= lower; row++) {
    const item = rowRectangle(pane, side, list.side, row, layoutWidth, camera, window);
    (rows.flags[row] & ROW_PILL ? list.pills : list.boxes).push(item);
    if (list.firstNode < 0) list.firstNode = item.node;
    list.lastNode = item.end - 1;
  }
}

function collectStrips(list: DrawList & { firstNode: number; lastNode: number }, pane: Pane, side: Side, layoutWidth: number, camera: Camera, window: Window, upper: number, lower: number): void {
  const { rows, top, bottom } = pane;
  const step = STRIP / camera.scale;
  const outlined: number[] = []; // nodes of the containers around the current strip, outermost first
  let row = firstRowFrom(top, upper);
  if (row > 0) row--;
  while (row < rows.count && top[row] <= lower) {
    const next = Math.max(row + 1, firstRowFrom(top, top[row] + step));
    const node = rows.node[row];
    outline(list, pane, side, node, outlined, layoutWidth, camera, window);
    const depth = side.depth[node];
    const y = toWindow(camera, list.side, top[row]);
    // A bar is as high as the rows it stands for, so that gaps between the two sides stay visible.
    const lastBottom = rows.flags[next - 1] & ROW_OPEN ? top[next - 1] + HEADER : bottom[next - 1];
    const height = Math.max(1, Math.min(STRIP, (lastBottom - top[row]) * camera.scale));
    list.strips.push({ ...horizontal(depth, layoutWidth, camera, window), y, height, from: node, to: rows.end[next - 1] });
    if (list.firstNode < 0) list.firstNode = node;
    list.lastNode = rows.end[next - 1] - 1;
    row = next;
  }
}

function outline(list: DrawList, pane: Pane, side: Side, node: number, outlined: number[], layoutWidth: number, camera: Camera, window: Window): void {
  while (outlined.length > 0 && side.end[outlined[outlined.length - 1]] <= node) outlined.pop();
  const around = outlined.length > 0 ? outlined[outlined.length - 1] : 0;
  const fresh: number[] = [];
  for (let at = node; at > around; at = side.parent[at]) fresh.push(at);
  for (let k = fresh.length - 1; k >= 0; k--) {
    const container = fresh[k];
    const row = pane.rows.rowOf[container];
    if (row < 0 || !(pane.rows.flags[row] & ROW_OPEN)) continue;
    outlined.push(container);
    if (side.depth[container] > DEEPEST_OUTLINE || (pane.bottom[row] - pane.top[row]) * camera.scale < 8) continue;
    list.boxes.push(rowRectangle(pane, side, list.side, row, layoutWidth, camera, window));
  }
}

/** Shares of the classes in a range of nodes, largest class (worst) first; zero shares are left out. */
export function shares(column: ClassColumn, from: number, to: number, scratch: Uint32Array = new Uint32Array(CLASS_LIMIT)): { cls: number; share: number; count: number }[] {
  countRange(column, from, to, scratch);
  const total = Math.max(1, to - from);
  const result: { cls: number; share: number; count: number }[] = [];
  for (let cls = CLASS_LIMIT - 1; cls >= 0; cls--) if (scratch[cls] > 0) result.push({ cls, share: scratch[cls] / total, count: scratch[cls] });
  return result;
}

/** What lies at a point of the window: the innermost row there; null between boxes. */
export function pick(pane: Pane, side: Side, which: SideName, layoutWidth: number, camera: Camera, window: Window, x: number, y: number): number | null {
  const { rows, top, bottom } = pane;
  const at = toLayout(camera, which, y);
  const inside = (row: number): boolean => {
    const item = rowRectangle(pane, side, which, row, layoutWidth, camera, window);
    return x >= item.x && x < item.x + item.width && y >= item.y && y < item.y + item.height;
  };
  // Rows that begin at or above the point, nearest first: pills of one line, then the box, then what encloses it.
  const from = firstRowFrom(top, at + 1e-9) - 1;
  for (let row = from; row >= 0 && at - top[row] < PILL_STEP; row--) {
    if (rows.flags[row] & ROW_PILL ? inside(row) : at < bottom[row] && inside(row)) return row;
  }
  if (from < 0) return null;
  for (let node = rows.node[from]; node > 0; node = side.parent[node]) {
    const row = rows.rowOf[node];
    if (row >= 0 && at >= top[row] && at < bottom[row] && inside(row)) return row;
  }
  return null;
}

/** Text colours and bars begin behind this many pixels in a box. */
export const TEXT_LEFT = BAR + 8;

export function isFold(flags: number): boolean {
  return (flags & ROW_FOLD) !== 0;
}

