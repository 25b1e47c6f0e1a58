/** What was just matched or marked, also for the other graphs of the run: the same names stand in every rank and step. */
import { computed, signal } from '@preact/signals';
import { amongThem, marksOf, NO_MARKS, withAdded, withoutAdded, type Added, type Marks } from '../core/marks';
import type { GraphKey } from '../core/types';
import { SourceError, type LocalText, type RunGraph } from '../wire/source';
import { chosen, runs, source } from './app';
import { fromBrowser, keepInBrowser } from './browser_copy';
import { lastAdded, lastTaken } from './marks';
import type { MatchesAnswer } from './matches_file';
import { problemText } from './open';

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

/** One graph that entries were added to besides the open one, and what it held before. */
interface Place {
  readonly key: GraphKey;
  readonly before: Marks;
}

interface SpreadEntries {
  readonly entries: readonly Added[];
  readonly from: GraphKey;
  readonly places: readonly Place[];
}

/** What was added elsewhere since the page was opened: taking it back here must be able to reach it there. */
const spreads = signal<readonly SpreadEntries[]>([]);

/** Changes the marks of a graph that is not open, whoever else writes there. Returns what they were. */
async function changeOf(key: GraphKey, next: (there: Marks) => Marks): Promise<Marks> {
  const from = source.value;
  if (!from) return NO_MARKS;
  for (let attempt = 1; ; attempt++) {
    let found: MatchesAnswer | null = null;
    try {
      found = await from.request<MatchesAnswer>('matches', { ...key });
    } catch (problem) {
      if (!(problem instanceof SourceError && problem.code === 'not_embedded')) throw problem;
    }
    if (!found?.writable) {
      const own = fromBrowser(key);
      keepInBrowser(key, next(own.now), own.base);
      return own.now;
    }
    try {
      const there = marksOf(found);
      await from.request('matches', {}, { ...key, revision: found.revision, ...next(there) });
      return there;
    } catch (problem) {
      if (attempt === TRIES || !(problem instanceof SourceError && problem.code === 'matches_changed')) throw problem;
    }
  }
}

export interface Spread {
  readonly done: number; // graphs
  readonly problem: LocalText | null; // of the first that could not be written
}

/** One graph after the other; what fails in one does not keep the others from it. */
async function inEach<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<Spread> {
  let done = 0;
  let problem: LocalText | null = null;
  spreading.value = true;
  for (const item of items) {
    try {
      await work(item);
      done++;
    } catch (failed) {
      problem ??= problemText(failed);
    }
  }
  spreading.value = false;
  return { done, problem };
}

/** Adds what was added last to other graphs of the run. */
export async function alsoFor(reach: Reach): Promise<Spread> {
  const from = chosen.value;
  const entries = lastAdded.value;
  if (!from || entries.length === 0) return { done: 0, problem: null };
  const places: Place[] = [];
  const result = await inEach(others.value[reach], async ({ step, rank }) => {
    const key = { run: from.run, step, rank };
    places.push({ key, before: await changeOf(key, (there) => withAdded(there, entries)) });
  });
  if (places.length > 0) spreads.value = [...spreads.value, { entries, from, places }];
  if (result.problem === null) lastAdded.value = [];
  return result;
}

function sameKey(a: GraphKey, b: GraphKey): boolean {
  return a.run === b.run && a.step === b.step && a.rank === b.rank;
}

interface TakeBack extends Place {
  readonly entries: readonly Added[];
}

/** Graphs that what was taken away last had been added to from here. */
export const takeBackPlaces = computed<readonly TakeBack[]>(() => {
  const here = chosen.value;
  const taken = lastTaken.value;
  const found: TakeBack[] = [];
  if (!here || taken.length === 0) return found;
  for (const { entries, from, places } of spreads.value) {
    const both = sameKey(from, here) ? entries.filter(amongThem(taken)) : [];
    if (both.length === 0) continue;
    for (const place of places) {
      const at = found.findIndex((other) => sameKey(other.key, place.key));
      if (at < 0) found.push({ ...place, entries: both });
      else found[at] = { ...found[at], entries: [...found[at].entries, ...both] };
    }
  }
  return found;
});

/** Takes what was taken away here out of the other graphs too; what was there before comes back. */
export async function alsoTakeBack(): Promise<Spread> {
  const taken = lastTaken.value;
  const result = await inEach(takeBackPlaces.value, async ({ key, entries, before }) => void (await changeOf(key, (there) => withoutAdded(there, entries, before))));
  if (result.problem !== null) return result;
  const isTaken = amongThem(taken);
  spreads.value = spreads.value.map((spread) => ({ ...spread, entries: spread.entries.filter((entry) => !isTaken(entry)) })).filter((spread) => spread.entries.length > 0);
  lastTaken.value = [];
  return result;
}
