/** The difference map of one row of the details: asked for on demand, followed to the next selection, closed again. */
import { effect, signal } from '@preact/signals';
import { decodeHeatmap, heatmapRequest, type Heatmap, type HeatmapAnswer, type HeatmapView } from '../core/heatmap';
import type { DetailRow } from '../core/details';
import type { LocalText } from '../wire/source';
import { detailsHeight, graph, source } from './app';
import { details } from './details';
import { problemText } from './open';

export interface OpenHeatmap {
  readonly row: DetailRow;
  readonly map: Heatmap | null; // null while loading, and where it is not to be had
  readonly problem: LocalText | null;
}

export const heatmap = signal<OpenHeatmap | null>(null);
export const heatmapView = signal<HeatmapView>('largest');
/** The cell whose numbers are shown; -1 = the worst one. */
export const heatmapCell = signal(-1);

const ROOM = 320; // pixels of height that a map needs to be read

let attempt = 0;

export async function openHeatmap(row: DetailRow): Promise<void> {
  const open = graph.value;
  const from = source.value;
  const request = heatmapRequest(row);
  if (!open || !from || !request) return;
  const mine = ++attempt;
  heatmap.value = { row, map: null, problem: null };
  heatmapCell.value = -1;
  detailsHeight.value = Math.max(detailsHeight.value, Math.min(ROOM, window.innerHeight - 260));
  try {
    const answer = await from.request<HeatmapAnswer>('heatmap', { run: open.key.run, step: open.key.step, rank: open.key.rank, ...request });
    if (mine === attempt) heatmap.value = { row, map: decodeHeatmap(answer), problem: null };
  } catch (failed) {
    if (mine === attempt) heatmap.value = { row, map: null, problem: problemText(failed) };
  }
}

export function closeHeatmap(): void {
  attempt++;
  heatmap.value = null;
}

/** A row of other details that holds the same: input.0 of the next node. */
function sameRow(rows: readonly DetailRow[], as: DetailRow): DetailRow | undefined {
  const names = (row: DetailRow): string => [row.target, row.golden].map((leaf) => (leaf ? `${leaf.role} ${leaf.name}` : '')).join('|');
  return rows.find((row) => names(row) === names(as) && heatmapRequest(row) !== null);
}

/** Call once: an open map goes with the selection, and closes where the next node has no such tensor. */
export function followHeatmap(): void {
  effect(() => {
    const shown = details.value;
    const open = heatmap.peek();
    if (!open || shown?.rows.includes(open.row)) return;
    const next = shown && sameRow(shown.rows, open.row);
    if (next) void openHeatmap(next);
    else closeHeatmap();
  });
}
