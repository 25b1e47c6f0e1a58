/** Metrics of the elements (tensor mode) as one number a pair: how far its worst row is from perfect. */
import type { Comparisons } from '../wire/blocks';

/** Columns that say where something is and not how bad it is. */
const NO_MEASURE = /^Worst /;
/** Columns in which 1 is perfect: shown as their distance from 1. */
const PERFECT_ONE = /^Cosine$|Err Ratio$/;

export function measuringNames(names: readonly string[]): string[] {
  return names.filter((name) => !NO_MEASURE.test(name));
}

export function metricLabel(name: string): string {
  return PERFECT_ONE.test(name) ? `1 − ${name}` : name;
}

/** The metric itself, of the distance from perfect that `addWorst` writes. */
export function asMeasured(name: string, distance: number): number {
  return PERFECT_ONE.test(name) ? 1 - distance : distance;
}

/** Writes the worst value of each pair of a block for one metric into `into` (indexed by pair). */
export function addWorst(block: Comparisons, name: string, into: Float32Array): void {
  const column = block.metricNames.indexOf(name);
  if (column < 0) return;
  const width = block.metricNames.length;
  for (let k = 0; k < block.pairCount; k++) {
    let worst = Number.NaN;
    for (let row = k > 0 ? block.rowEnd[k - 1] : 0; row < block.rowEnd[k]; row++) {
      const raw = block.metrics[row * width + column];
      const value = PERFECT_ONE.test(name) ? Math.max(0, 1 - raw) : Math.abs(raw);
      if (!(value <= worst)) worst = Number.isNaN(value) ? worst : value;
    }
    into[block.firstPair + k] = worst;
  }
}
