/** Opening runs and graph files: asks the source, decodes, and chooses what is seen first. */
import { batch, signal } from '@preact/signals';
import { availableModes, isMeasured, isMetric, type PlainMode } from '../core/colouring';
import { firstReadable, insteadOf } from '../core/run_labels';
import { NodeKind, sideOf, SIDES, type Graph, type GraphKey, type NodeRef } from '../core/types';
import { decodeGraph } from '../wire/decode';
import { openingSections, type GraphSections } from '../wire/opening';
import { SourceError, type LocalText } from '../wire/source';
import { openFirstLevels, select, settle } from './actions';
import { chosen, colouring, failure, findingFilter, graph, loading, microStep, panel, runs, selection, source } from './app';
import { camera } from './view';

const FIRST_ROWS = 26;

export function problemText(problem: unknown): LocalText {
  if (problem instanceof SourceError) return problem.text;
  const message = problem instanceof Error ? problem.message : String(problem);
  return { en: message, zh: message };
}

const SCAN_AGAIN = 700; // milliseconds; the server looks through the log directory in the background

/** Why the list of runs is not there, or not as it is now, beside an open graph. */
export const listFailure = signal<LocalText | null>(null);

/** Lists the runs, again while the server is still looking; opens the first readable graph where `openFirst`. */
export async function listRuns(openFirst: boolean): Promise<void> {
  if (!source.value) return;
  let first: GraphKey | null;
  try {
    const list = await source.value.runs();
    first = openFirst && !chosen.value ? firstReadable(list.runs) : null;
    runs.value = list;
    listFailure.value = null;
  } catch (problem) {
    // A graph that is there, or on its way, needs no list.
    (chosen.value ? listFailure : failure).value = problemText(problem);
    return;
  }
  if (first) await openGraph(first);
  else if (runs.value.scanning) setTimeout(() => void listRuns(openFirst), SCAN_AGAIN);
}

/** Set when the open graph file was written anew since it was opened. */
export const newer = signal(false);

export function noticeNewer(): void {
  const key = chosen.value;
  const opened = graph.value;
  const entry = runs.value?.runs.find((run) => run.run === key?.run)?.graphs.find((item) => item.step === key?.step && item.rank === key?.rank);
  newer.value = Boolean(opened && entry?.version && entry.version !== opened.version);
}

let attempt = 0;

/** What the address asked for, applied once the graph is there. */
export interface Restore {
  readonly node?: NodeRef | null;
  readonly microStep?: number;
}

/** What opens in the place of a graph that cannot be asked for; null where the run is not there, or has that graph after all. */
async function anotherOf(key: GraphKey, wanted: () => boolean): Promise<GraphKey | null> {
  const from = source.value;
  try {
    while (from && wanted()) {
      const list = await from.runs();
      const found = insteadOf(key, list.runs);
      if (found || !list.scanning || list.runs.some((item) => item.run === key.run)) return found;
      await new Promise((done) => setTimeout(done, SCAN_AGAIN)); // the server may not have come to that run yet
    }
  } catch {
    // Without a list there is nothing to choose from.
  }
  return null;
}

/** `moved`: given for a key that nobody has chosen from a list; told where another graph of its run opens, because the run has no such step or rank. */
export async function openGraph(key: GraphKey, restore?: (opened: Graph) => Restore | null, moved?: (shown: GraphKey) => void): Promise<void> {
  const from = source.value;
  if (!from) return;
  const mine = ++attempt;
  batch(() => {
    chosen.value = key;
    failure.value = null;
    loading.value = { what: key.run, done: 0, total: 0 };
  });
  try {
    const index = await from.index(key);
    const wanted = openingSections(index);
    const total = wanted.reduce((sum, { entry }) => sum + entry.stored_length, 0);
    let done = 0;
    const parts = await Promise.all(
      wanted.map(async ({ part, entry }) => {
        const bytes = await from.section(key, entry.name, index.version);
        done += entry.stored_length;
        if (mine === attempt) loading.value = { what: key.run, done, total };
        return [part, bytes] as const;
      }),
    );
    if (mine !== attempt) return; // another graph was chosen in the meantime
    const opened = decodeGraph(key, index.version, Object.fromEntries(parts) as unknown as GraphSections);
    show(opened, restore?.(opened) ?? null);
  } catch (problem) {
    const other = moved && mine === attempt ? await anotherOf(key, () => mine === attempt) : null;
    if (mine !== attempt) return;
    if (other) {
      moved?.(other);
      await openGraph(other, restore);
      return;
    }
    batch(() => {
      graph.value = null;
      loading.value = null;
      failure.value = problemText(problem);
    });
  }
}

/** What a single graph cannot show comes back with the next comparison. */
let replaced: { readonly mode: PlainMode; readonly by: PlainMode } | null = null;
let findingsAside = false;

function show(opened: Graph, restore: Restore | null): void {
  batch(() => {
    selection.value = null;
    graph.value = opened;
    newer.value = false;
    loading.value = null;
    const step = restore?.microStep ?? -1;
    microStep.value = step < Math.max(1, opened.summary.micro_steps) ? step : -1; // an address may name one that is not there
    camera.value = { scroll: 0, scale: 1, goldenShift: 0 };
    const modes = availableModes(opened);
    const mode = colouring.value;
    const kept = isMetric(mode) ? opened.summary.mode === 'tensor' : modes.includes(mode);
    if (replaced && colouring.value === replaced.by && modes.includes(replaced.mode)) {
      colouring.value = replaced.mode; // what a graph without it had put aside
      replaced = null;
    } else if (!kept) {
      if (!isMetric(mode)) replaced = { mode, by: modes[0] };
      colouring.value = modes[0];
    } else if (colouring.value === 'how' && modes.includes('cause') && restore === null) colouring.value = 'cause';
    if (!opened.golden && panel.value === 'findings') {
      panel.value = null; // nothing was compared
      findingsAside = true;
    } else if (opened.golden && findingsAside) {
      findingsAside = false;
      panel.value ??= 'findings';
    }
    if (opened.golden && !isMeasured(opened.verdicts.status)) findingFilter.value = new Set(['unmatched', 'unmatchedCalls']);
  });
  openFirstLevels(opened, FIRST_ROWS);
  const first = restore?.node ?? firstOf(opened);
  settle();
  if (first) select(first, { reveal: true, centre: true });
}

/** The place to look at first: the first divergence forward, else backward, else a differing parameter. */
function firstOf(opened: Graph): NodeRef | null {
  const { forward, backward, parameters } = opened.summary;
  for (const place of [forward, backward]) {
    const ref = place ? divergenceRef(place.target_node, place.golden_node) : null;
    if (ref) return ref;
  }
  const parameter = parameters.find((item) => item.target_node > 0);
  if (parameter) return { side: 'target', node: parameter.target_node };
  // Without numbers the first difference is the first thing that only one side has.
  if (opened.golden === null || isMeasured(opened.verdicts.status)) return null;
  for (const side of SIDES) {
    const columns = sideOf(opened, side);
    const node = columns ? columns.pair.findIndex((pair, i) => i > 0 && pair < 0 && columns.kind[i] === NodeKind.module) : -1;
    if (node > 0) return { side, node };
  }
  return null;
}

export function divergenceRef(targetNode: number, goldenNode: number): NodeRef | null {
  if (targetNode > 0) return { side: 'target', node: targetNode };
  return goldenNode > 0 ? { side: 'golden', node: goldenNode } : null;
}
