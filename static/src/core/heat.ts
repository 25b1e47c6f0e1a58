/** Classes of a difference map's cells: decades relative to golden's root mean square, the scale that metric colours use. */
import { SCALE_CLASSES, scaleClass } from './colouring';

export { SCALE_CLASSES };

/** Class of a largest difference; 1 ("clean") where nothing differs. */
export function heatClass(largest: number, scale: number): number {
  return scaleClass(largest === 0 ? 0 : scale > 0 ? largest / scale : Infinity, 0);
}

/** Cell at a point of a grid that is `width` × `height`; -1 outside. */
export function cellAt(x: number, y: number, width: number, height: number, rows: number, columns: number): number {
  const row = Math.floor((y / height) * rows);
  const column = Math.floor((x / width) * columns);
  return row >= 0 && row < rows && column >= 0 && column < columns ? row * columns + column : -1;
}

/** "3" or "4–7": what a cell covers. */
export function rangeText(start: readonly number[], at: number): string {
  const last = start[at + 1] - 1;
  return last === start[at] ? String(last) : `${start[at]}–${last}`;
}
