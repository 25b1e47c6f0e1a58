/** Manual matches and triage marks as lists, with undo and redo and the joining of two people's changes. Pure. */
import type { Relation } from './types';

export type RelationWord = keyof typeof Relation;

/** One manual match, as converter/match/pins.py reads it. */
export interface MatchEntry {
  readonly action: 'match' | 'unmatch';
  readonly target: readonly string[];
  readonly golden: readonly string[];
  readonly relation: RelationWord;
  readonly author?: string;
  readonly time?: string;
}

/** One mark: nodes of one side that are expected to differ, or of no interest. */
export interface TriageEntry {
  readonly nodes: string; // a name, or a pattern with * and ?
  readonly side: 'target' | 'golden';
  readonly verdict: 'expected' | 'ignored';
  readonly note?: string;
  readonly author?: string;
  readonly time?: string;
}

/** A layer mapping that somebody put into force; an empty text: none, whatever the graph was converted with. */
export interface KeptMapping {
  readonly name: string;
  readonly text: string;
  readonly author?: string;
  readonly time?: string;
}

/** What the file beside a graph holds. */
export interface Marks {
  readonly matches: readonly MatchEntry[];
  readonly triage: readonly TriageEntry[];
  readonly mapping: KeptMapping | null; // null: the mapping that the graph was converted with
}

export const NO_MARKS: Marks = { matches: [], triage: [], mapping: null };

/** Matches, marks and mapping of an answer or of a file, without what else came with them. */
export function marksOf(found: Partial<Marks> | null): Marks {
  const mapping = found?.mapping;
  return {
    matches: Array.isArray(found?.matches) ? found.matches : [],
    triage: Array.isArray(found?.triage) ? found.triage : [],
    mapping: typeof mapping?.name === 'string' && typeof mapping.text === 'string' ? mapping : null,
  };
}

/** States that can be gone back to, and forward again. */
export interface History {
  readonly past: readonly Marks[];
  readonly now: Marks;
  readonly future: readonly Marks[];
}

const MOST_STEPS = 200;

export function historyOf(now: Marks): History {
  return { past: [], now, future: [] };
}

export function changed(history: History, now: Marks): History {
  return { past: [...history.past, history.now].slice(-MOST_STEPS), now, future: [] };
}

export function undone(history: History): History {
  const before = history.past[history.past.length - 1];
  return before ? { past: history.past.slice(0, -1), now: before, future: [history.now, ...history.future] } : history;
}

export function redone(history: History): History {
  const [next, ...rest] = history.future;
  return next ? { past: [...history.past, history.now], now: next, future: rest } : history;
}

/** Which nodes an entry is about, in whatever order it names them. Lists are long (everything inside of a node): they are joined by such keys. */
function nodesKey(entry: MatchEntry): string {
  return JSON.stringify([[...entry.target].sort(), [...entry.golden].sort()]);
}

/** Adds entries behind the others; an entry about exactly the same nodes is replaced, since the later one wins anyway. */
export function withMatches(marks: Marks, added: readonly MatchEntry[]): Marks {
  const keys = new Set(added.map(nodesKey));
  return { ...marks, matches: [...marks.matches.filter((old) => !keys.has(nodesKey(old))), ...added] };
}

export function withoutMatch(marks: Marks, entry: MatchEntry): Marks {
  return { ...marks, matches: marks.matches.filter((item) => item !== entry) };
}

function triageKey(entry: TriageEntry): string {
  return JSON.stringify([entry.nodes, entry.side]);
}

export function withTriage(marks: Marks, added: TriageEntry): Marks {
  return { ...marks, triage: [...marks.triage.filter((old) => old.nodes !== added.nodes || old.side !== added.side), added] };
}

export function withoutTriage(marks: Marks, entry: TriageEntry): Marks {
  return { ...marks, triage: marks.triage.filter((item) => item !== entry) };
}

/** What makes an entry the same for two people: everything but who and when. */
function identity(entry: MatchEntry | TriageEntry): string {
  return 'nodes' in entry
    ? JSON.stringify([entry.nodes, entry.side, entry.verdict, entry.note ?? ''])
    : JSON.stringify([entry.action, [...entry.target].sort(), [...entry.golden].sort(), entry.relation]);
}

function joinLists<T extends MatchEntry | TriageEntry>(base: readonly T[], mine: readonly T[], theirs: readonly T[]): T[] {
  const known = new Set(base.map(identity));
  const own = new Set(mine.map(identity));
  const foreign = new Set(theirs.map(identity));
  // Theirs without what I removed, then what I added: later entries win, and I am the one who looks at the result.
  const kept = theirs.filter((entry) => own.has(identity(entry)) || !known.has(identity(entry)));
  const added = mine.filter((entry) => !known.has(identity(entry)) && !foreign.has(identity(entry)));
  return [...kept, ...added];
}

/** Whether two say the same, whoever put them into force and when. */
export function sameMapping(a: KeptMapping | null, b: KeptMapping | null): boolean {
  return a === null || b === null ? a === b : a.name === b.name && a.text === b.text;
}

/** Both people's changes to `base`. */
export function joined(base: Marks, mine: Marks, theirs: Marks): Marks {
  return {
    matches: joinLists(base.matches, mine.matches, theirs.matches),
    triage: joinLists(base.triage, mine.triage, theirs.triage),
    mapping: sameMapping(mine.mapping, base.mapping) ? theirs.mapping : mine.mapping,
  };
}

/** History as if somebody else's change from `base` to `theirs` had been there from the start: going back never takes it away. */
export function rebased(history: History, base: Marks, theirs: Marks): History {
  const onto = (state: Marks): Marks => joined(base, state, theirs);
  return { past: history.past.map(onto), now: onto(history.now), future: history.future.map(onto) };
}

/** Entries of `theirs` that `base` did not have: what somebody else did meanwhile. */
export function foreignChanges(base: Marks, theirs: Marks): (MatchEntry | TriageEntry | KeptMapping)[] {
  const known = new Set<string>([...base.matches, ...base.triage].map(identity));
  const entries = [...theirs.matches, ...theirs.triage].filter((entry) => !known.has(identity(entry)));
  return theirs.mapping === null || sameMapping(base.mapping, theirs.mapping) ? entries : [...entries, theirs.mapping];
}

type Entry = MatchEntry | TriageEntry;

/** An entry with who made it and when: what two people did alike is not taken for one of them. */
function exactly(entry: Entry): string {
  return JSON.stringify([identity(entry), entry.author ?? '', entry.time ?? '']);
}

/** Whether `there` is what writing `sent` onto `base` has led to, perhaps with what others changed since. */
export function holdsChange(base: Marks, sent: Marks, there: Marks): boolean {
  const all = (marks: Marks): Set<string> => new Set([...marks.matches, ...marks.triage].map(exactly));
  const [before, wrote, found] = [all(base), all(sent), all(there)];
  for (const entry of wrote) if (!before.has(entry) && !found.has(entry)) return false;
  for (const entry of before) if (!wrote.has(entry) && found.has(entry)) return false;
  return sameMapping(base.mapping, sent.mapping) || sameMapping(sent.mapping, there.mapping);
}

export type Added = MatchEntry | TriageEntry | KeptMapping;

/** Of a mapping what it says, of an entry also who made it and when. */
function addedKey(entry: Added): string {
  return 'text' in entry ? JSON.stringify({ name: entry.name, text: entry.text }) : exactly(entry);
}

/** Whether an entry is in the list. */
export function amongThem(list: readonly Added[]): (entry: Added) => boolean {
  const keys = new Set(list.map(addedKey));
  return (entry) => keys.has(addedKey(entry));
}

/** The last one of each key, where it stands. */
function lastOfEach<T>(list: readonly T[], key: (entry: T) => string): T[] {
  const last = new Map(list.map((entry, place) => [key(entry), place]));
  return list.filter((entry, place) => last.get(key(entry)) === place);
}

/** Entries put behind what is there; one about the same nodes takes the place of the older. */
export function withAdded(marks: Marks, added: readonly Added[]): Marks {
  const matches = lastOfEach(added.filter((entry): entry is MatchEntry => 'action' in entry), nodesKey);
  const triage = lastOfEach(added.filter((entry): entry is TriageEntry => 'nodes' in entry), triageKey);
  const marked = new Set(triage.map(triageKey));
  return {
    matches: withMatches(marks, matches).matches,
    triage: [...marks.triage.filter((old) => !marked.has(triageKey(old))), ...triage],
    mapping: added.filter((entry): entry is KeptMapping => 'text' in entry).at(-1) ?? marks.mapping,
  };
}

/** What went when `before` became `now`: entries that are in neither of its lists any more, and the mapping where it is another. */
export function takenAway(before: Marks, now: Marks): Added[] {
  const isLeft = amongThem([...now.matches, ...now.triage]);
  const gone: Added[] = [...before.matches, ...before.triage].filter((entry) => !isLeft(entry));
  if (before.mapping && !sameMapping(before.mapping, now.mapping)) gone.push(before.mapping);
  return gone;
}

/**
 * `there` without `entries`, which had been added when it was `before`: what they had taken the place of comes back. What somebody else
 * has changed since stays as it is.
 */
export function withoutAdded(there: Marks, entries: readonly Added[], before: Marks): Marks {
  const ours = amongThem(entries);
  const present = [...there.matches, ...there.triage].filter(ours);
  const added = withAdded(before, present);
  const replaced = new Set(takenAway(before, added));
  const mapping = there.mapping && ours(there.mapping) ? before.mapping : there.mapping;
  return {
    matches: [...there.matches.filter((entry) => !ours(entry)), ...before.matches.filter((entry) => replaced.has(entry))],
    triage: [...there.triage.filter((entry) => !ours(entry)), ...before.triage.filter((entry) => replaced.has(entry))],
    mapping,
  };
}

export function equalMarks(a: Marks, b: Marks): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** What JSON writes as it is and YAML does not take, or takes for the end of a line. */
const NOT_IN_YAML = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;

/** A text in double quotes (or a list, or an object, of such) that YAML reads back whatever it holds. */
function quoted(value: unknown): string {
  return JSON.stringify(value).replace(NOT_IN_YAML, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function line(entry: object): string {
  const parts = Object.entries(entry).map(([key, value]) => `${key}: ${quoted(value)}`);
  return `- {${parts.join(', ')}}`;
}

/** The text of a matches file, for downloading. */
export function marksAsYaml(marks: Marks): string {
  const block = (key: string, entries: readonly object[]): string => (entries.length > 0 ? `${key}:\n${entries.map(line).join('\n')}\n` : `${key}: []\n`);
  const mapping = marks.mapping ? `mapping: ${quoted(marks.mapping)}\n` : '';
  return `# Manual matches and marks of the viewer. graph-convert takes this file with --matches.\n${block('matches', marks.matches)}${mapping}${block('triage', marks.triage)}`;
}
