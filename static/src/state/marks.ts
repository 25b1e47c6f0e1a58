/** Manual matches and triage marks of the open graph: read from beside it, changed with undo, written back without losing anybody's change. */
import { batch, computed, effect, signal } from '@preact/signals';
import {
  changed,
  equalMarks,
  foreignChanges,
  historyOf,
  joined,
  marksOf,
  NO_MARKS,
  sameMapping,
  redone,
  undone,
  type History,
  type KeptMapping,
  type MatchEntry,
  type Marks,
  type TriageEntry,
} from '../core/marks';
import { nodeName } from '../core/names';
import { markedNodes } from '../core/triage';
import { sideOf, SIDES, type Graph, type GraphKey, type SideName } from '../core/types';
import { SourceError, type LocalText } from '../wire/source';
import { expectedGolden, expectedTarget, source } from './app';
import { problemText } from './open';
import { apply, inForce, stored, type InForce, type MappingChoice } from './rematch';
import { text } from './search';

/** Answer of the route `matches`. */
export interface MatchesAnswer extends Marks {
  readonly revision: string;
  readonly writable: boolean;
}

export const history = signal<History>(historyOf(NO_MARKS));
export const marks = computed<Marks>(() => history.value.now);

/** Changes only when a mark does, not with every match. */
const triage = computed<readonly TriageEntry[]>(() => marks.value.triage);

/** Where changes go: the file beside the graph, or this browser alone. */
export const kept = signal<'file' | 'browser' | 'unknown'>('unknown');
export const saving = signal(false);
export const failure = signal<LocalText | null>(null);
/** What somebody else changed while this page was open; shown until it is dismissed. */
export const foreign = signal<readonly (MatchEntry | TriageEntry | KeptMapping)[]>([]);

/** What was added last, so that it can be added elsewhere too. */
export const lastAdded = signal<readonly (MatchEntry | TriageEntry | KeptMapping)[]>([]);

/** Who makes the entries; remembered in the browser. */
export const author = signal(remembered('author'));

let revision = 'none';
let onDisk: Marks = NO_MARKS; // what the file held when it was last read or written
let queue: Promise<void> = Promise.resolve();

function remembered(name: string): string {
  try {
    return localStorage.getItem(`tb_graph_ascend.${name}`) ?? '';
  } catch {
    return '';
  }
}

function remember(name: string, text: string): void {
  try {
    localStorage.setItem(`tb_graph_ascend.${name}`, text);
  } catch {
    // Forbidden or full: it holds until the page is closed.
  }
}

export function setAuthor(text: string): void {
  author.value = text;
  remember('author', text);
}

/** Author and time of a new entry. */
export function signature(): { author?: string; time: string } {
  const time = `${new Date().toISOString().slice(0, 19)}Z`;
  return author.value.trim() ? { author: author.value.trim(), time } : { time };
}

function browserName(key: GraphKey): string {
  return `matches.${key.run}|${key.step}|${key.rank}`;
}

export function keepInBrowser(key: GraphKey, now: Marks): void {
  remember(browserName(key), JSON.stringify(now));
}

export function fromBrowser(key: GraphKey): Marks {
  try {
    return marksOf(JSON.parse(remembered(browserName(key)) || 'null') as Partial<Marks> | null);
  } catch {
    return NO_MARKS;
  }
}

/** What a rematch is asked for by the marks that are there. */
function forceOf(now: Marks): Pick<InForce, 'matches' | 'mapping'> {
  const { mapping } = now;
  return { matches: now.matches, mapping: mapping === null ? 'file' : mapping.text.trim() === '' ? null : { name: mapping.name, text: mapping.text } };
}

/** Puts into force what the marks say, where that is not so yet. */
function enforce(now: Marks): void {
  const wanted = forceOf(now);
  const { matches, mapping } = inForce.value;
  if (JSON.stringify(wanted) !== JSON.stringify({ matches, mapping })) void apply(wanted);
}

async function load(open: Graph): Promise<void> {
  const from = source.value;
  if (!from) return;
  let found: Marks = NO_MARKS;
  try {
    const answer = await from.request<MatchesAnswer>('matches', { ...open.key });
    if (stored.value !== open) return;
    revision = answer.revision;
    onDisk = marksOf(answer);
    // What was kept here while the directory could not be written is not forgotten.
    const own = fromBrowser(open.key);
    found = answer.writable ? onDisk : joined(NO_MARKS, own, onDisk);
    kept.value = answer.writable ? 'file' : 'browser';
  } catch (problem) {
    if (stored.value !== open) return;
    found = fromBrowser(open.key);
    kept.value = 'browser';
    // An exported page has no server behind it: that is no failure.
    if (!(problem instanceof SourceError && problem.code === 'not_embedded')) failure.value = problemText(problem);
  }
  history.value = historyOf(found);
  if ((found.matches.length > 0 || found.mapping !== null) && open.golden) await apply(forceOf(found));
}

/** Every change goes through here. */
export function change(next: Marks): void {
  lastAdded.value = foreignChanges(marks.value, next);
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
  lastAdded.value = [];
  history.value = undone(history.value);
  settle();
}

export function redo(): void {
  if (history.value.future.length === 0) return;
  history.value = redone(history.value);
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
  const open = stored.value;
  if (!open) return;
  const now = marks.value;
  queue = queue.then(() => write(open, now));
  enforce(now);
}

async function write(open: Graph, now: Marks): Promise<void> {
  const from = source.value;
  if (!from || stored.value !== open) return;
  if (kept.value !== 'file') {
    keepInBrowser(open.key, now);
    return;
  }
  saving.value = true;
  failure.value = null;
  try {
    const answer = await from.request<MatchesAnswer>('matches', {}, { ...open.key, revision, ...now });
    revision = answer.revision;
    onDisk = marksOf(answer);
  } catch (problem) {
    if (problem instanceof SourceError && problem.code === 'matches_changed') await join(open);
    else {
      if (problem instanceof SourceError && problem.code === 'read_only') kept.value = 'browser';
      keepInBrowser(open.key, now);
      failure.value = problemText(problem);
    }
  } finally {
    saving.value = false;
  }
}

/** Somebody else has written: both changes are joined, written, and what came from there is shown. */
async function join(open: Graph): Promise<void> {
  const from = source.value;
  if (!from) return;
  const theirs = await from.request<MatchesAnswer>('matches', { ...open.key });
  if (stored.value !== open) return;
  const base = onDisk;
  const there = marksOf(theirs);
  const both = joined(base, marks.value, there);
  revision = theirs.revision;
  onDisk = there;
  batch(() => {
    foreign.value = [...foreign.value, ...foreignChanges(base, there)];
    if (!equalMarks(both, marks.value)) history.value = changed(history.value, both);
  });
  await write(open, both);
  enforce(both);
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
      failure.value = null;
      foreign.value = [];
      lastAdded.value = [];
    });
    revision = 'none';
    onDisk = NO_MARKS;
    queue = Promise.resolve();
    if (open) void load(open);
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
