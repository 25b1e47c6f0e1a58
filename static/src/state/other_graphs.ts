/** What was just matched or marked, also for the other graphs of the run: the same names stand in every rank and step. */
import { computed, signal } from '@preact/signals';
import { marksOf, withMatches, withTriage, type KeptMapping, type Marks, type MatchEntry, type TriageEntry } from '../core/marks';
import type { GraphKey } from '../core/types';
import { SourceError, type LocalText, type RunGraph } from '../wire/source';
import { chosen, runs, source } from './app';
import { fromBrowser, keepInBrowser } from './browser_copy';
import { lastAdded } from './marks';
import type { MatchesAnswer } from './matches_file';
import { problemText } from './open';

export type Added = MatchEntry | TriageEntry | KeptMapping;
export type Reach = 'ranks' | 'all';

const TRIES = 3; // somebody else may write at the same time

function readable(reach: Reach): readonly RunGraph[] {
  const key = chosen.value;
  const graphs = runs.value?.runs.find((run) => run.run === key?.run)?.graphs ?? [];
  return graphs.filter((item) => !item.error && (item.step !== key?.step || item.rank !== key.rank) && (reach === 'all' || item.step === key?.step));
}

/** Other graphs of the run: ranks of the open step, and all. */
export const others = computed<Readonly<Record<Reach, readonly RunGraph[]>>>(() => ({ ranks: readable('ranks'), all: readable('all') }));

export const spreading = signal(false);

/** Entries put behind what is there; one about the same nodes takes the place of the older. */
function withAdded(marks: Marks, added: readonly Added[]): Marks {
  let next = marks;
  for (const entry of added) {
    if ('nodes' in entry) next = withTriage(next, entry);
    else if ('action' in entry) next = withMatches(next, [entry]);
    else next = { ...next, mapping: entry };
  }
  return next;
}

async function addTo(key: GraphKey, added: readonly Added[]): Promise<void> {
  const from = source.value;
  if (!from) return;
  for (let attempt = 1; ; attempt++) {
    let found: MatchesAnswer | null = null;
    try {
      found = await from.request<MatchesAnswer>('matches', { ...key });
    } catch (problem) {
      if (!(problem instanceof SourceError && problem.code === 'not_embedded')) throw problem;
    }
    if (!found?.writable) {
      const own = fromBrowser(key);
      keepInBrowser(key, withAdded(own.now, added), own.base);
      return;
    }
    try {
      await from.request('matches', {}, { ...key, revision: found.revision, ...withAdded(marksOf(found), added) });
      return;
    } catch (problem) {
      if (attempt === TRIES || !(problem instanceof SourceError && problem.code === 'matches_changed')) throw problem;
    }
  }
}

export interface Spread {
  readonly done: number; // graphs
  readonly problem: LocalText | null; // of the first that could not be written
}

/** Adds what was added last to other graphs of the run. */
export async function alsoFor(reach: Reach): Promise<Spread> {
  const key = chosen.value;
  const added = lastAdded.value;
  if (!key || added.length === 0) return { done: 0, problem: null };
  let done = 0;
  let problem: LocalText | null = null;
  spreading.value = true;
  for (const item of others.value[reach]) {
    try {
      await addTo({ run: key.run, step: item.step, rank: item.rank }, added);
      done++;
    } catch (failed) {
      problem ??= problemText(failed);
    }
  }
  spreading.value = false;
  if (problem === null) lastAdded.value = [];
  return { done, problem };
}
