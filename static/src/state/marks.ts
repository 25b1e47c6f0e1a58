/** Manual matches and triage marks of the open graph: read from beside it, changed with undo, written back without losing anybody's change. */
import { batch, computed, effect, signal } from '@preact/signals';
import {
  changed,
  foreignChanges,
  historyOf,
  joined,
  marksOf,
  NO_MARKS,
  rebased,
  sameMapping,
  takenAway,
  redone,
  undone,
  type Added,
  type History,
  type Marks,
  type TriageEntry,
} from '../core/marks';
import { nodeName } from '../core/names';
import { markedNodes } from '../core/triage';
import { sideOf, SIDES, type Graph, type SideName } from '../core/types';
import { keep, kept as keptText, onKeptElsewhere } from '../host/storage';
import type { LocalText, Source } from '../wire/source';
import { expectedGolden, expectedTarget, source } from './app';
import { isAbout } from './browser_copy';
import { MatchesFile, type Kept, type MatchesAnswer } from './matches_file';
import { problemText } from './open';
import { apply, inForce, stored, working, type InForce, type MappingChoice } from './rematch';
import { text } from './search';

export const history = signal<History>(historyOf(NO_MARKS));
export const marks = computed<Marks>(() => history.value.now);

/** Changes only when a mark does, not with every match. */
const triage = computed<readonly TriageEntry[]>(() => marks.value.triage);

export const kept = signal<Kept>('unknown');
export const saving = signal(false);
export const failure = signal<LocalText | null>(null);
/** What somebody else changed while this page was open; shown until it is dismissed. */
export const foreign = signal<readonly Added[]>([]);

/** Counts changes that came from elsewhere, another tab or another person, while this page was open. */
export const joinedFromElsewhere = signal(0);

const restoring = signal(false);
/** What is kept and is being put into force, while the pairs on the screen are still the former ones; null: nothing. */
export const comingIntoForce = computed<'mapping' | 'matches' | null>(() => (restoring.value && working.value ? (marks.value.mapping ? 'mapping' : 'matches') : null));

/** What was added last, so that it can be added elsewhere too. */
export const lastAdded = signal<readonly Added[]>([]);

/** What the last change took away, so that it can be taken away elsewhere too. */
export const lastTaken = signal<readonly Added[]>([]);

/** Who makes the entries; remembered in the browser. */
export const author = signal(keptText('author') ?? '');

let file: MatchesFile | null = null; // of the open graph

export function setAuthor(text: string): void {
  author.value = text;
  keep('author', text);
}

/** Author and time of a new entry. */
export function signature(): { author?: string; time: string } {
  const time = `${new Date().toISOString().slice(0, 19)}Z`;
  return author.value.trim() ? { author: author.value.trim(), time } : { time };
}

/** What a rematch is asked for by the marks that are there. */
function forceOf(now: Marks): Pick<InForce, 'matches' | 'mapping'> {
  const { mapping } = now;
  return { matches: now.matches, mapping: mapping === null ? 'file' : mapping.text.trim() === '' ? null : { name: mapping.name, text: mapping.text } };
}

/** Puts into force what the marks say, where that is not so yet. */
async function enforce(now: Marks): Promise<void> {
  const wanted = forceOf(now);
  const { matches, mapping } = inForce.value;
  if (JSON.stringify(wanted) !== JSON.stringify({ matches, mapping })) await apply(wanted);
}

/** The same of what was not changed here just now: nobody may take the former pairs for the result meanwhile. */
async function restore(now: Marks): Promise<void> {
  restoring.value = true;
  await enforce(now);
  if (!working.value) restoring.value = false; // else another change is on its way, and brings these along
}

async function load(open: Graph, beside: MatchesFile): Promise<void> {
  const found = await beside.read();
  if (file !== beside) return;
  history.value = rebased(history.value, NO_MARKS, found); // something may have been changed before the answer came
  const now = marks.value;
  if (open.golden) await restore(now);
}

/** Every change goes through here. */
export function change(next: Marks): void {
  lastAdded.value = foreignChanges(marks.value, next);
  lastTaken.value = lastAdded.value.length > 0 ? [] : takenAway(marks.value, next); // what is replaced here is replaced there too
  history.value = changed(history.value, next);
  settle();
}

/** Keeps the mapping that is in force, for the next one who opens the graph. */
export function keepMapping(choice: MappingChoice): void {
  const mapping = choice === 'file' ? null : { ...(choice ?? { name: '', text: '' }), ...signature() };
  if (!sameMapping(mapping, marks.value.mapping)) change({ ...marks.value, mapping });
}

export function undo(): void {
  if (history.value.past.length === 0) return;
  const before = marks.value;
  history.value = undone(history.value);
  lastAdded.value = [];
  lastTaken.value = takenAway(before, marks.value);
  settle();
}

export function redo(): void {
  if (history.value.future.length === 0) return;
  const before = marks.value;
  history.value = redone(history.value);
  lastAdded.value = foreignChanges(before, marks.value);
  lastTaken.value = [];
  settle();
}

/** Adds the matches and marks of another run's graph of the same step and rank. Returns how many entries were new. */
export async function takeOver(run: string): Promise<number> {
  const open = stored.value;
  const from = source.value;
  if (!open || !from) return 0;
  failure.value = null;
  try {
    const there = await from.request<MatchesAnswer>('matches', { ...open.key, run });
    if (stored.value !== open) return 0;
    const before = marks.value;
    const both = joined(NO_MARKS, marksOf({ ...there, mapping: before.mapping ?? there.mapping }), before);
    const added = both.matches.length + both.triage.length - before.matches.length - before.triage.length + Number(both.mapping !== null && before.mapping === null);
    if (added > 0) change(both);
    return added;
  } catch (problem) {
    failure.value = problemText(problem);
    return 0;
  }
}

/** Writes what is there now and puts its matches into force. */
function settle(): void {
  const now = marks.value;
  file?.keep(now);
  void enforce(now);
}

/** The file beside a graph; what it tells is shown while that graph is open. */
function fileOf(open: Graph, from: Source): MatchesFile {
  const shown = (tell: () => void): void => {
    if (file === opened) batch(tell);
  };
  const opened: MatchesFile = new MatchesFile(from, open.key, {
    kept: (where) => shown(() => (kept.value = where)),
    saving: (now) => shown(() => (saving.value = now)),
    failed: (problem) => shown(() => (failure.value = problem === null ? null : problemText(problem))),
    joined: (base, theirs) =>
      shown(() => {
        foreign.value = [...foreign.value, ...foreignChanges(base, theirs)];
        history.value = rebased(history.value, base, theirs);
        joinedFromElsewhere.value++;
        if (open.golden) void restore(marks.value);
      }),
  });
  return opened;
}

/** Nodes that marks are about. */
function nodesOf(open: Graph, now: Marks): Record<SideName, Set<number>> {
  const found: Record<SideName, Set<number>> = { target: new Set(), golden: new Set() };
  if (now.triage.length === 0) return found;
  for (const entry of now.triage) for (const side of SIDES) for (const node of nodesOfMark(open, side, entry)) found[side].add(node);
  return found;
}

const nodesOfMarks = new WeakMap<object, Map<string, readonly number[]>>();

/** Nodes of a side that an entry is about; each pattern is looked for once a graph. */
export function nodesOfMark(open: Graph, side: SideName, entry: Pick<TriageEntry, 'nodes' | 'side'>): readonly number[] {
  if (entry.side !== side || !text.value) return [];
  let known = nodesOfMarks.get(open.strings);
  if (!known) nodesOfMarks.set(open.strings, (known = new Map()));
  const key = `${side}|${entry.nodes}`;
  let nodes = known.get(key);
  if (!nodes) known.set(key, (nodes = markedNodes(open, text.value, side, { ...entry, verdict: 'expected' })));
  return nodes;
}

/** Nodes of the names in the list of matches, by side and name: one pass over the graph for all of them. */
export const nodeOfName = computed<Readonly<Record<SideName, ReadonlyMap<string, number>>>>(() => {
  const open = stored.value;
  const found = { target: new Map<string, number>(), golden: new Map<string, number>() };
  const list = marks.value.matches;
  if (!open || list.length === 0) return found;
  for (const which of SIDES) {
    const side = sideOf(open, which);
    const wanted = new Set(list.flatMap((entry) => entry[which]));
    for (let node = 1; side && node < side.count && found[which].size < wanted.size; node++) {
      const name = nodeName(open, side, node);
      if (wanted.has(name)) found[which].set(name, node);
    }
  }
  return found;
});

/** Call once a page. */
export function followMarks(): void {
  effect(() => {
    const open = stored.value;
    batch(() => {
      history.value = historyOf(NO_MARKS);
      kept.value = 'unknown';
      saving.value = false;
      failure.value = null;
      foreign.value = [];
      lastAdded.value = [];
      lastTaken.value = [];
    });
    const from = source.peek();
    file = open && from ? fileOf(open, from) : null;
    if (open && file) void load(open, file);
  });
  effect(() => {
    if (!working.value) restoring.value = false;
  });
  onKeptElsewhere((name, text) => {
    const open = stored.value;
    if (open && isAbout(open.key, name, text)) file?.hear();
  });
  effect(() => {
    const open = stored.value;
    const found = open ? nodesOf(open, { ...NO_MARKS, triage: triage.value }) : { target: new Set<number>(), golden: new Set<number>() };
    batch(() => {
      expectedTarget.value = found.target;
      expectedGolden.value = found.golden;
    });
  });
}
