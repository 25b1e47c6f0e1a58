/** The whole of one side in a narrow column: every node counts the same, whatever is open. Density, not "the worst wins". */
import { countRange, CLASS_LIMIT, type ClassColumn } from './counts';
import type { Colouring } from './colouring';

export interface MiniSegment {
  readonly y: number;
  readonly height: number;
  readonly x: number; // 0..1 of the width
  readonly width: number;
  readonly cls: number;
}

/** One line per `line` pixels; each is divided by the share of its classes, the worst at the left; causes at least `least` wide. */
export function minimap(column: ClassColumn, colouring: Colouring, height: number, from: number, to: number, line = 2, least = 0.34): MiniSegment[] {
  const segments: MiniSegment[] = [];
  const lines = Math.max(1, Math.floor(height / line));
  const nodes = Math.max(1, to - from);
  const scratch = new Uint32Array(CLASS_LIMIT);
  for (let k = 0; k < lines; k++) {
    const first = from + Math.floor((k * nodes) / lines);
    const behind = Math.max(first + 1, from + Math.floor(((k + 1) * nodes) / lines));
    countRange(column, first, Math.min(behind, to), scratch);
    const total = Math.max(1, behind - first);
    let x = 0;
    for (let cls = CLASS_LIMIT - 1; cls >= 0 && x < 1; cls--) {
      if (scratch[cls] === 0) continue;
      const strong = colouring.classes[cls]?.strong ?? false;
      const width = Math.min(1 - x, Math.max(scratch[cls] / total, strong ? least : 0));
      segments.push({ y: k * line, height: line, x, width, cls });
      x += width;
    }
  }
  return segments;
}

export function nodeAt(y: number, height: number, count: number): number {
  return Math.min(count - 1, Math.max(1, 1 + Math.floor((y / Math.max(1, height)) * (count - 1))));
}
