/** Every step and rank of the open run at a glance: the summaries of all its graph files, fetched one by one in the background. */
import { computed, effect, signal } from '@preact/signals';
import { PbfReader } from 'pbf';
import { CauseClass } from '../core/colouring';
import type { GraphKey } from '../core/types';
import { readSummary, type Summary } from '../wire/graph_pb.js';
import type { LocalText, Run } from '../wire/source';
import { chosen, graph, runs, source } from './app';
import { SIGN_OF_KIND } from './kinds';

const AT_ONCE = 3;
const MOST = 512; // graph files of one run that are looked into
const BEGINNINGS: ReadonlySet<number> = new Set([CauseClass.parameter, CauseClass.introduced]);
const BEGIN_AFTER = 400; // milliseconds: the open graph comes first

export interface GraphState {
  readonly cls: number; // of CauseClass; none = still unknown or nothing was measured
  readonly text: LocalText;
}

/** By `step/rank`. */
export const graphStates = signal<ReadonlyMap<string, GraphState>>(new Map());

/** The open run, when it holds several graph files. */
export const severalGraphs = computed<Run | null>(() => {
  const run = runs.value?.runs.find((item) => item.run === chosen.value?.run);
  return run && run.graphs.length > 1 ? run : null;
});

/** The graph of the open one's step in which something began, where nothing began in the open one; as far as the others are known. */
export const originElsewhere = computed<{ readonly key: GraphKey; readonly rank: number; readonly text: LocalText } | null>(() => {
  const run = severalGraphs.value;
  const own = chosen.value;
  if (!run || !own) return null;
  for (const { step, rank } of run.graphs) {
    if (step !== own.step || rank === own.rank) continue;
    const state = graphStates.value.get(stateKey(step, rank));
    if (state && BEGINNINGS.has(state.cls)) return { key: { run: run.run, step, rank }, rank, text: state.text };
  }
  return null;
});

export function stateKey(step: number, rank: number): string {
  return `${step}/${rank}`;
}

/** What a summary says in one class and one sentence. */
function stateOf(summary: Summary): GraphState {
  for (const found of [summary.forward, summary.backward]) {
    if (found) return { cls: SIGN_OF_KIND[found.kind] ?? CauseClass.error, text: { en: `${found.target}: ${found.reason?.en ?? ''}`, zh: `${found.target}：${found.reason?.zh ?? ''}` } };
  }
  if (summary.parameters.length > 0) return { cls: CauseClass.parameter, text: { en: summary.parameters[0].target, zh: summary.parameters[0].target } };
  const { status } = summary;
  const nothing = { en: '', zh: '' };
  // No call of this graph began it (a later pipeline stage, say), but it differs all the same.
  if (status && status.error > 0) return { cls: CauseClass.inherited, text: nothing };
  if (status && status.warning > 0) return { cls: CauseClass.warning, text: nothing };
  return { cls: status && status.pass > 0 ? CauseClass.clean : CauseClass.none, text: nothing };
}

async function load(key: GraphKey): Promise<GraphState | null> {
  const from = source.value;
  if (!from) return null;
  try {
    const index = await from.index(key);
    return stateOf(readSummary(new PbfReader(await from.section(key, 'summary', index.version))));
  } catch {
    return null; // shown as unknown; opening that graph will say what is wrong
  }
}

let round = 0;

async function loadAll(run: Run): Promise<void> {
  const mine = ++round;
  const waiting = run.graphs.filter((item) => !item.error).slice(0, MOST);
  const found = new Map<string, GraphState>();
  const work = async (): Promise<void> => {
    for (let item = waiting.shift(); item && mine === round; item = waiting.shift()) {
      const state = await load({ run: run.run, step: item.step, rank: item.rank });
      if (mine !== round || !state) continue;
      found.set(stateKey(item.step, item.rank), state);
      graphStates.value = new Map(found);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

/** Call once: the overview then follows the open run. */
export function followRun(): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const several = computed(() => severalGraphs.value?.run ?? null);
  const opened = computed(() => graph.value !== null);
  effect(() => {
    const name = several.value;
    clearTimeout(timer);
    round++;
    graphStates.value = new Map();
    if (name === null || !opened.value) return;
    timer = setTimeout(() => {
      const run = severalGraphs.peek();
      if (run) void loadAll(run);
    }, BEGIN_AFTER);
  });
}
