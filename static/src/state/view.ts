/** What the two panes show: open containers, rows, layout and camera of the open graph. Changed through actions.ts. */
import { computed, signal } from '@preact/signals';
import type { Camera } from '../core/camera';
import { colour, isMetric, strongMask, type Colouring } from '../core/colouring';
import { Folds, type OpenState } from '../core/folds';
import { digitsOf } from '../core/format';
import { arrange, type Layout } from '../core/layout';
import { fillRows, RowBuffer } from '../core/rows';
import type { Names } from '../core/names';
import { NO_CALL, NodeKind, type Graph, type NodeRef, type Side, type SideName } from '../core/types';
import { Blocks } from '../wire/blocks';
import { colouring, graph, microStep, names, source, threshold } from './app';
import { hiddenPairs } from './triage';

/** Size of the canvas that holds both panes, in CSS pixels. */
export const canvasSize = signal({ width: 0, height: 0 });

const NARROW = 760;

/** Space between the two panes, for the curves of group pairs, and left and right of them. */
export const gutter = computed(() => (canvasSize.value.width < NARROW ? 30 : 44));
export const paneMargin = computed(() => (canvasSize.value.width < NARROW ? 6 : 12));

export const camera = signal<Camera>({ scroll: 0, scale: 1, goldenShift: 0 });

/** Per pair, the metric that is coloured by (state/metrics.ts fetches it). */
export const metricValues = signal<{ readonly name: string; readonly values: Float32Array } | null>(null);

/** Classes under 'cause', which decides what is never folded away. */
export const causes = computed<Colouring | null>(() => (graph.value ? colour(graph.value, 'cause', 0, null, hiddenPairs.value) : null));

/** Classes and legend under the chosen colour mode. */
export const colours = computed<Colouring | null>(() => {
  const mode = colouring.value;
  if (mode === 'cause') return causes.value;
  const metric = isMetric(mode) && metricValues.value?.name === mode.slice('metric:'.length) ? metricValues.value.values : null;
  return graph.value ? colour(graph.value, mode, threshold.value, metric, hiddenPairs.value) : null;
});

export const folds = computed<Folds | null>(() => {
  const open = graph.value;
  const strong = causes.value;
  if (!open || !strong || !names.value) return null;
  return new Folds(open, names.value, strong.target, strong.golden, strongMask(strong));
});

export const blocks = computed<Blocks | null>(() => (graph.value && source.value ? new Blocks(source.value, graph.value) : null));

/** Changed in place (a byte a node would be too much to copy); `openVersion` says when. */
export const openState = computed<OpenState | null>(() => {
  const open = graph.value;
  return open ? { target: new Uint8Array(open.target.count), golden: open.golden ? new Uint8Array(open.golden.count) : null } : null;
});
export const openVersion = signal(0);

const buffers = computed(() => {
  const open = graph.value;
  return open ? { target: new RowBuffer(open.target.count), golden: open.golden ? new RowBuffer(open.golden.count) : null } : null;
});

/** Width of one pane's content in CSS pixels. */
export const paneWidth = computed(() => {
  const { width } = canvasSize.value;
  const inner = width - 2 * paneMargin.value;
  return Math.max(160, graph.value?.golden ? (inner - gutter.value) / 2 : inner);
});

/** Layout units are CSS pixels as long as the picture is not enlarged. */
export const layoutWidth = computed(() => Math.floor(paneWidth.value / Math.max(1, camera.value.scale)));

/** Left edge of a pane on the canvas. */
export function paneLeft(side: SideName): number {
  return side === 'target' ? paneMargin.value : paneMargin.value + paneWidth.value + gutter.value;
}

/** Measures the text of pills; replaced by the canvas's own measure once there is one. */
export const textMeasure = signal<(text: string) => number>((text) => text.length * 7);

/** Widths of the texts in whole units, worked out once a node: the layout asks for all of them every time. */
export interface PillWidths {
  readonly of: (side: SideName, node: number) => number;
  readonly known: Readonly<Record<SideName, Uint16Array>>; // plus 1, 0 = not asked yet
}

function pillMeasure(open: Graph, known: Names, measure: (text: string) => number): PillWidths {
  const heads = new Float32Array(open.strings.count).fill(-1);
  const digit = measure('0');
  const dot = measure('.');
  const widths = { target: new Uint16Array(open.target.count), golden: new Uint16Array(open.golden?.count ?? 0) };
  const fresh = (side: Side, node: number): number => {
    const head = side.head[node];
    const api = side.kind[node] === NodeKind.api;
    if (heads[head] < 0) heads[head] = measure(api ? known.of(side, node).whole : known.label(side, node));
    const call = side.call[node];
    return call === NO_CALL || !api ? heads[head] : heads[head] + dot + digit * digitsOf(call);
  };
  const of = (which: SideName, node: number): number => {
    const side = open[which];
    const column = widths[which];
    if (!side) return 0;
    if (column[node] === 0) column[node] = Math.min(Math.ceil(fresh(side, node)) + 1, 65535);
    return column[node] - 1;
  };
  return { of, known: widths };
}

export const pillWidths = computed(() => (graph.value && names.value ? pillMeasure(graph.value, names.value, textMeasure.value) : null));

/** Positions of everything that is open. Depends on nothing that scrolling or selecting changes. */
export const layout = computed<Layout | null>(() => {
  const open = graph.value;
  const made = buffers.value;
  const state = openState.value;
  const repeats = folds.value;
  const widths = pillWidths.value;
  void openVersion.value;
  if (!open || !made || !state || !repeats || !widths || layoutWidth.value <= 0) return null;
  const targetRows = fillRows(made.target, open, 'target', state, repeats, microStep.value);
  const goldenRows = made.golden ? fillRows(made.golden, open, 'golden', state, repeats, microStep.value) : null;
  return arrange(open, targetRows, goldenRows, { width: layoutWidth.value, pillTextWidth: widths.of, knownTextWidths: widths.known });
});

/** Nodes whose outputs are the inputs of the selected one, as far as the numbers tell; filled when its details are there. */
export const producers = signal<readonly NodeRef[]>([]);
