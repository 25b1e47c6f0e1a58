/** What is on the screen as plain data, for browser tests and for people in the console: `__tb_graph_ascend.snapshot()`. */
import { announcement, chosen, colouring, failure, graph, loading, names, selection } from './app';
import { details } from './details';
import { frameTimes } from './frame_times';
import { drawLists } from './scene';
import { camera, layout } from './view';
import { sideOf } from '../core/types';

export interface Snapshot {
  readonly chosen: unknown;
  readonly loading: boolean;
  readonly failure: string | null;
  readonly nodes: { readonly target: number; readonly golden: number };
  readonly colouring: string;
  readonly camera: { readonly scroll: number; readonly scale: number; readonly goldenShift: number };
  readonly height: number;
  readonly selection: { readonly side: string; readonly name: string } | null;
  readonly boxes: readonly { readonly side: string; readonly name: string; readonly x: number; readonly y: number; readonly width: number; readonly height: number; readonly flags: number }[];
  readonly details: { readonly rows: number; readonly pair: number } | null;
  readonly announcement: string;
  readonly frame: { readonly frames: number; readonly last: number };
}

function snapshot(): Snapshot {
  const open = graph.value;
  const known = names.value;
  const ref = selection.value;
  const fullName = (side: 'target' | 'golden', node: number): string => {
    const columns = open && sideOf(open, side);
    return columns && known ? known.full(columns, node) : '';
  };
  return {
    chosen: chosen.value,
    loading: loading.value !== null,
    failure: failure.value?.en ?? null,
    nodes: { target: open?.target.count ?? 0, golden: open?.golden?.count ?? 0 },
    colouring: colouring.value,
    camera: camera.value,
    height: layout.value?.height ?? 0,
    selection: ref ? { side: ref.side, name: fullName(ref.side, ref.node) } : null,
    boxes: drawLists().flatMap((list) =>
      [...list.boxes, ...list.pills].map((item) => ({ side: list.side, name: fullName(list.side, item.node), x: item.x, y: item.y, width: item.width, height: item.height, flags: item.flags })),
    ),
    details: details.value ? { rows: details.value.rows.length, pair: details.value.pair } : null,
    announcement: announcement.value,
    frame: { ...frameTimes },
  };
}

export function exposeForTests(): void {
  (globalThis as unknown as Record<string, unknown>).__tb_graph_ascend = { snapshot, frameTimes };
}
