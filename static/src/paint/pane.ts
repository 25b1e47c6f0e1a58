/** Draws the DrawList of one side. Colour stands in the bar at the left of a box and nowhere else; its sign stands at the right. */
import { columnOf, type Colouring } from '../core/colouring';
import { isFold, shares, TEXT_LEFT, type BoxItem, type DrawList } from '../core/drawlist';
import { BAR, numberStays } from '../core/geometry';
import { ROW_OPEN } from '../core/rows';
import { t } from '../i18n';
import { formatCount } from '../core/format';
import type { BoxLabel, Labels } from './labels';
import type { TextFitter } from './text';
import type { Theme } from './theme';

export const FONT_SIZE = 13;
const SMALL = 12;
const TINY = 11;
const TEXT_FROM = 15; // header height in pixels from which texts are drawn
const RADIUS = 6;
const SHORTEST_DETAIL = 6; // characters of a class that was cut

export interface Brush {
  readonly context: CanvasRenderingContext2D;
  readonly theme: Theme;
  readonly text: TextFitter;
  readonly labels: Labels;
  readonly colouring: Colouring;
  readonly zoom: number; // ≥ 1: enlargement of fonts
}

export function drawPane(brush: Brush, list: DrawList, height: number): void {
  for (const box of list.boxes) drawBox(brush, list, box, height);
  for (const strip of list.strips) drawStrip(brush, list, strip);
  for (const pill of list.pills) drawPill(brush, list, pill);
  for (const gap of list.gaps) drawGap(brush, list, gap);
}

function clsOf(brush: Brush, number: number): Colouring['classes'][number] | undefined {
  return brush.colouring.classes[number];
}

/** The bar: solid in the class's colour; hatched where there is no counterpart, so that grey alone says nothing. */
function drawBar(brush: Brush, cls: number, x: number, y: number, width: number, height: number): void {
  const { context, theme } = brush;
  const item = clsOf(brush, cls);
  context.fillStyle = theme.fill(item);
  if (item?.id !== 'unmatched' && item?.id !== 'incomparable') {
    context.fillRect(x, y, width, height);
    return;
  }
  const step = item.id === 'unmatched' ? 6 : 3;
  for (let at = 0; at < height; at += step) context.fillRect(x, y + at, width, Math.min(step / 2, height - at));
}

function drawBox(brush: Brush, list: DrawList, box: BoxItem, windowHeight: number): void {
  const { context, theme } = brush;
  const radius = Math.min(RADIUS, box.height / 3, box.header / 3);
  const y = Math.round(box.y) + 0.5;
  const x = Math.round(box.x) + 0.5;
  const width = Math.round(box.width) - 1;
  const height = Math.max(1, Math.round(box.y + box.height) - Math.round(box.y) - 1);
  context.beginPath();
  context.roundRect(x, y, width, height, radius);
  context.fillStyle = theme.panel;
  context.fill();
  const label = brush.labels.of(list.side, box);
  // The bar takes the box's rounded corners.
  context.save();
  context.clip();
  const top = Math.max(y - 1, -1);
  const bottom = Math.min(y + height + 1, windowHeight + 1);
  if (bottom > top) drawBar(brush, label.cls, x - 0.5, top, BAR * brush.zoom + 0.5, bottom - top);
  context.restore();
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  context.stroke();
  if (isFold(box.flags) && box.header >= TEXT_FROM) drawFoldEdges(brush, x, y, width, height, radius);
  if (box.header >= TEXT_FROM && box.y + box.header > -2 && box.y < windowHeight) drawHeader(brush, box, label);
}

/** Two edges below a fold, as of a pile of cards. */
function drawFoldEdges(brush: Brush, x: number, y: number, width: number, height: number, radius: number): void {
  const { context, theme } = brush;
  context.strokeStyle = theme.line;
  context.beginPath();
  context.moveTo(x + radius, y + height + 2);
  context.lineTo(x + width - radius, y + height + 2);
  context.stroke();
}

function drawHeader(brush: Brush, box: BoxItem, label: BoxLabel): void {
  const { context, theme, text } = brush;
  const size = Math.min(FONT_SIZE * brush.zoom, box.header * 0.62);
  const middle = box.y + box.header / 2 + 0.5;
  let x = box.x + TEXT_LEFT * brush.zoom;
  if (box.branch || isFold(box.flags)) {
    drawTriangle(brush, x, middle, size * 0.62, (box.flags & ROW_OPEN) !== 0);
    x += size * 0.95;
  }
  text.setFont(`${size}px ${theme.family}`);
  const right = drawRight(brush, box, label, middle, size, x, text.measure(label.title) + 6);
  const room = right - x - 6;
  context.textBaseline = 'middle';
  context.textAlign = 'left';
  text.setFont(`${size}px ${theme.family}`);
  const title = text.fit(label.title, room);
  context.fillStyle = theme.ink;
  context.fillText(title, x, middle);
  const used = text.measure(title) + size * 0.6;
  if (!label.detail || title !== label.title) return;
  text.setFont(`${size * (SMALL / FONT_SIZE)}px ${theme.family}`);
  const detail = text.fit(label.detail, room - used);
  if (detail !== label.detail && detail.length < SHORTEST_DETAIL) return; // "…ar" tells nothing
  context.fillStyle = theme.dim;
  context.fillText(detail, x + used, middle);
}

/**
 * Error, own sign, and the signs of hidden causes; returns the left end of what was drawn. The error gives way to a title
 * that begins at `titleLeft` and that only the error would cut: it stands in the list and in the details too.
 */
function drawRight(brush: Brush, box: BoxItem, label: BoxLabel, middle: number, size: number, titleLeft: number, titleWidth: number): number {
  const { context, theme, text } = brush;
  let x = box.x + box.width - 9 * brush.zoom;
  if (box.width < 120) return x;
  context.textBaseline = 'middle';
  context.textAlign = 'right';
  const small = size * (TINY / FONT_SIZE);
  text.setFont(`${small}px ${theme.family}`);
  const own = clsOf(brush, label.cls);
  const signWidth = own?.sign ? size * 1.1 + 6 : 0;
  if (label.value && numberStays(titleWidth, x - signWidth - titleLeft, text.measure(label.value) + 6)) {
    context.fillStyle = theme.dim;
    context.fillText(label.value, x, middle);
    x -= text.measure(label.value) + 6;
  }
  if (own?.strong) {
    drawSign(brush, x - size * 1.1, middle, size * 1.1, label.cls);
    x -= size * 1.1 + 6;
  } else if (own?.sign) {
    context.fillStyle = theme.sign(own);
    context.fillText(own.sign, x, middle);
    x -= text.measure(own.sign) + 6;
  }
  for (const hidden of label.hidden) {
    if (hidden.cls === label.cls && hidden.count === 1 && isFold(box.flags)) continue;
    const count = formatCount(hidden.count);
    context.fillStyle = theme.dim;
    context.textAlign = 'right';
    context.fillText(count, x, middle);
    x -= text.measure(count) + 3;
    drawSign(brush, x - size, middle, size, hidden.cls);
    x -= size + 7;
  }
  return x;
}

/** A filled square with the sign of a class in it. */
export function drawSign(brush: Pick<Brush, 'context' | 'theme' | 'colouring'>, x: number, middle: number, size: number, cls: number): void {
  const { context, theme } = brush;
  const item = brush.colouring.classes[cls];
  context.fillStyle = theme.fill(item);
  context.beginPath();
  context.roundRect(x, middle - size / 2, size, size, size * 0.22);
  context.fill();
  context.fillStyle = item?.strong ? theme.onStrong : theme.ink;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.font = `bold ${Math.round(size * 0.66)}px ${theme.family}`;
  context.fillText(item?.sign ?? '', x + size / 2, middle + size * 0.03);
}

function drawTriangle(brush: Brush, x: number, middle: number, size: number, open: boolean): void {
  const { context, theme } = brush;
  const half = size / 2;
  context.fillStyle = theme.ink;
  context.beginPath();
  if (open) {
    context.moveTo(x, middle - half * 0.6);
    context.lineTo(x + size, middle - half * 0.6);
    context.lineTo(x + half, middle + half * 0.8);
  } else {
    context.moveTo(x + half * 0.3, middle - half);
    context.lineTo(x + size * 0.85, middle);
    context.lineTo(x + half * 0.3, middle + half);
  }
  context.fill();
}

/** A call: its name in a pill. Colour only where something is wrong: then an edge, and the sign in front of the name. */
function drawPill(brush: Brush, list: DrawList, pill: BoxItem): void {
  const { context, theme, text } = brush;
  const label = brush.labels.of(list.side, pill);
  const cls = clsOf(brush, label.cls);
  const marked = cls !== undefined && cls.sign !== '';
  const y = Math.round(pill.y) + 0.5;
  const x = Math.round(pill.x) + 0.5;
  const width = Math.max(1, Math.round(pill.width) - 1);
  const height = Math.max(1, Math.round(pill.height) - 1);
  context.beginPath();
  context.roundRect(x, y, width, height, height / 2);
  context.fillStyle = cls?.strong ? theme.fill(cls) : theme.panel;
  context.fill();
  context.strokeStyle = marked ? theme.fill(cls) : theme.line;
  context.lineWidth = marked && !cls.strong ? 1.5 : 1;
  if (cls?.id === 'unmatched') context.setLineDash([3, 2]);
  context.stroke();
  context.setLineDash([]);
  if (pill.height < 11) return;
  const size = Math.min(SMALL * brush.zoom, pill.height * 0.62);
  text.setFont(`${size}px ${theme.family}`);
  context.textBaseline = 'middle';
  const middle = y + height / 2 + 0.5;
  const ink = cls?.strong ? theme.onStrong : marked && cls.id !== 'unmatched' ? theme.ink : theme.dim;
  // The sign takes the padding at the left: the width of a pill does not depend on what it is coloured by.
  // Unmatched calls have their dashed edge for that.
  const signed = marked && width > 28 && cls.id !== 'unmatched';
  if (signed) {
    context.textAlign = 'left';
    context.fillStyle = cls.strong ? theme.onStrong : theme.sign(cls);
    text.setFont(`bold ${size * 0.75}px ${theme.family}`);
    context.fillText(cls.sign, x + height * 0.22, middle);
    text.setFont(`${size}px ${theme.family}`);
  }
  context.textAlign = 'center';
  context.fillStyle = ink;
  context.fillText(text.fit(label.title, width - (signed ? 16 : 10)), x + width / 2 + (signed ? height * 0.17 : 0), middle);
}

/** Many rows in one bar: the shares of their classes side by side, the worst at the left, causes at least 3 px wide. */
function drawStrip(brush: Brush, list: DrawList, strip: DrawList['strips'][number]): void {
  const { context, theme } = brush;
  const column = columnOf(brush.colouring, list.side);
  if (!column) return;
  const parts = shares(column, strip.from, strip.to);
  const height = Math.max(1, strip.height - (strip.height >= 3 ? 1 : 0));
  let x = strip.x;
  const end = strip.x + strip.width;
  for (const part of parts) {
    const cls = clsOf(brush, part.cls);
    const width = Math.min(end - x, Math.max(part.share * strip.width, cls?.strong ? 3 : 0));
    context.fillStyle = theme.fill(cls);
    context.fillRect(x, strip.y, width, height);
    x += width;
  }
}

function drawGap(brush: Brush, list: DrawList, gap: DrawList['gaps'][number]): void {
  const { context, theme, text } = brush;
  const height = gap.height - 2;
  if (height < 6) return;
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  context.setLineDash([4, 4]);
  context.beginPath();
  context.roundRect(Math.round(gap.x) + 0.5, Math.round(gap.y) + 1.5, gap.width - 1, height - 2, RADIUS);
  context.stroke();
  context.setLineDash([]);
  if (height < 13) return;
  const size = TINY * brush.zoom;
  text.setFont(`${size}px ${theme.family}`);
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.fillStyle = theme.dim;
  const words = t(list.side === 'target' ? 'gap.onlyGolden' : 'gap.onlyTarget', { count: formatCount(gap.count) });
  const room = gap.width - 16;
  // Where there is little room the number is what counts.
  context.fillText(text.fit(text.measure(words) <= room ? words : (words.split(' · ').pop() ?? words), room), gap.x + gap.width / 2, gap.y + height / 2 + 1);
}
