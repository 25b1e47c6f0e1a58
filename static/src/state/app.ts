/**
 * The state that parts of the viewer share, as signals. Components read and write them; what changes several at once, or
 * what is open, is done by actions.ts. The canvas subscribes to them like any component. Nothing here touches the page or the network.
 */
import { computed, signal } from '@preact/signals';
import { NO_THRESHOLD, type ColourMode } from '../core/colouring';
import { Names } from '../core/names';
import { t } from '../i18n';
import type { Graph, GraphKey, NodeRef } from '../core/types';
import type { LocalText, RunList, Source } from '../wire/source';

/** Where data comes from; set once at start. */
export const source = signal<Source | null>(null);

/** What the log directory holds; null until the first answer. */
export const runs = signal<RunList | null>(null);

/** This page was exported: everything that can be shown is in it, and nobody answers requests. */
export const exported = computed<boolean>(() => runs.value?.host === 'export');

/** The graph file the person asked for, and the one that is open (they differ while one is being loaded). */
export const chosen = signal<GraphKey | null>(null);
export const graph = signal<Graph | null>(null);
export const names = computed<Names | null>(() => (graph.value ? new Names(graph.value, () => t('box.noName')) : null));

/** What is being waited for; null when idle. `done` of `total` bytes, total 0 = unknown. */
export const loading = signal<{ readonly what: string; readonly done: number; readonly total: number } | null>(null);
/** Why there is no graph on the screen. */
export const failure = signal<LocalText | null>(null);

/** Only this micro step is shown; -1 = all. */
export const microStep = signal(-1);

/** The selected node, and the pair it is in (-1 = unmatched). Panels change the selection through actions.select. */
export const selection = signal<NodeRef | null>(null);
export const selectedPair = computed<number>(() => {
  const chosenNode = selection.value;
  const open = graph.value;
  if (!chosenNode || !open) return -1;
  const side = chosenNode.side === 'target' ? open.target : open.golden;
  return side ? side.pair[chosenNode.node] : -1;
});
export const hovered = signal<NodeRef | null>(null);

/**
 * Nodes picked for a manual match. Drawn with a thin outline.
 */
export const marked = signal<readonly NodeRef[]>([]);

/** Set while a panel wants them: takes a click with Ctrl or Shift, and a box that was dragged onto one of the other side. */
export const pick = signal<((ref: NodeRef) => void) | null>(null);
export const drop = signal<((from: NodeRef, to: NodeRef) => void) | null>(null);

/** What colours mean, and for a metric the error below which a node counts as clean. */
export const colouring = signal<ColourMode>('cause');
export const threshold = signal<number>(NO_THRESHOLD);

/** Ids of the panels (ui/panels has what they show). */
export const PANEL_IDS = ['findings', 'search', 'matches', 'mapping', 'triage', 'share', 'convert'] as const;
export type PanelId = (typeof PANEL_IDS)[number];

/** Which panel stands beside the rail, null = closed. */
export const panel = signal<PanelId | null>('findings');

/** Text of the search box; core/query reads it. */
export const query = signal('');

/** Rows of another list that `n` and `p` go through while its panel is open (see core/findings for the numbers); null = the findings. */
export const hits = signal<Int32Array | null>(null);

/** Which classes of findings the list shows; ids of core/findings. */
export const findingFilter = signal<ReadonlySet<string>>(new Set(['cause']));

/** Expand and collapse partners together. */
export const syncExpansion = signal(true);

/** 'auto' follows TensorBoard, else the system. */
export const theme = signal<'auto' | 'light' | 'dark'>('auto');
export const dark = signal(false);

/** Sizes that a person can drag. */
export const detailsHeight = signal(232);
export const panelWidth = signal(268);
export const detailsOpen = signal(true);
/** Inner width of the window, in pixels; a narrow one (notebook, editor) has room for one search box only. */
export const windowWidth = signal(globalThis.innerWidth ?? 1600);
export const narrow = computed(() => windowWidth.value <= 1000);
/** Inner height of the window, in pixels. */
export const windowHeight = signal(globalThis.innerHeight ?? 1000);
/** Whether a person wants the layer strip unfolded; null: nobody has said, the window decides. */
export const stripChosen = signal<boolean | null>(null);
export const stripOpen = computed(() => stripChosen.value ?? windowHeight.value >= 780);

/** A sentence for the live region of screen readers, and for a short note in the corner. */
export const announcement = signal('');
export const note = signal('');

/** Nodes of each side that a person marked as expected or ignored (state/marks.ts fills them). */
export const expectedTarget = signal<ReadonlySet<number>>(new Set());
export const expectedGolden = signal<ReadonlySet<number>>(new Set());
export const hideExpected = signal(false);
