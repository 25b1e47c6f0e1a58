/** What a run is called in a menu: its directory and the time it was made, newest first, and no two alike; and which graph opens where none was chosen. Pure. */
import type { GraphKey } from './types';

export interface NamedRun {
  readonly run: string; // path relative to the log directory
  readonly kind: 'compare' | 'build';
  readonly created?: string; // ISO 8601
  readonly dumps?: string; // "megatron_vs_hf/megatron ↔ hf"
}

export interface RunLabel {
  readonly run: string;
  readonly name: string; // the directory that a person named; where nobody did, the dumps
  readonly dumps: string; // '' where the name says so already, or where they are not known
  readonly time: string; // "2026-11-29 22:35:51"; '' where it is not known
  readonly shortTime: string; // as much of it as tells the run from others of its name
}

/** graph-convert's own names: compare_20261129223551, and whatever somebody put behind. */
const MADE = /^(compare|build)_(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(.*)$/s;
const ISO = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)/;

function split(item: NamedRun): RunLabel {
  const parts = item.run.split('/');
  const last = parts.pop() ?? '';
  const made = MADE.exec(last);
  const written = ISO.exec(item.created ?? '');
  const shown = (name: string, time: string): RunLabel => ({ run: item.run, name, time, shortTime: time, dumps: name === item.dumps ? '' : (item.dumps ?? '') });
  if (!made) return shown(item.run === '.' ? item.kind : item.run, written ? `${written[1]} ${written[2]}` : '');
  const [, kind, year, month, day, hour, minute, second, behind] = made;
  const name = [parts.join('/') || item.dumps || kind, behind.replace(/^[_\-. ]+/, '')].filter(Boolean).join(' ');
  return shown(name, `${year}-${month}-${day} ${hour}:${minute}:${second}`);
}

/** Month, day and minute, as long as that tells runs of one name apart. */
function shortened(label: RunLabel, all: readonly RunLabel[]): string {
  const { time } = label;
  if (time === '') return '';
  const others = all.filter((item) => item.run !== label.run && item.name === label.name);
  const oneYear = others.every((item) => item.time === '' || item.time.slice(0, 4) === time.slice(0, 4));
  const from = oneYear ? 5 : 0;
  const toMinute = time.slice(from, 16);
  return others.some((item) => item.time.slice(from, 16) === toMinute) ? time.slice(from) : toMinute;
}

/** Newest first, runs of unknown time last. */
export function runLabels(runs: readonly NamedRun[]): RunLabel[] {
  const plain = runs.map(split);
  const seen = new Map<string, number>();
  const key = (label: RunLabel): string => `${label.name}\n${label.time}`;
  for (const label of plain) seen.set(key(label), (seen.get(key(label)) ?? 0) + 1);
  // A comparison and a build of one second, or the like: then only the whole path tells them apart.
  const told = plain.map((label) => ((seen.get(key(label)) ?? 0) > 1 ? { ...label, name: label.run } : label));
  return told
    .map((label) => ({ ...label, shortTime: shortened(label, told) }))
    .sort((a, b) => (a.time === b.time ? (a.run < b.run ? -1 : 1) : a.time > b.time ? -1 : 1));
}

interface Listed {
  readonly step: number;
  readonly rank: number;
  readonly error?: unknown;
}

export interface RunWithGraphs extends NamedRun {
  readonly graphs: readonly Listed[];
}

/** What opens where nobody chose: of the runs in the menu's order the first one with a graph file that can be read. */
export function firstReadable(runs: readonly RunWithGraphs[]): GraphKey | null {
  for (const { run } of runLabels(runs)) {
    const found = runs.find((item) => item.run === run)?.graphs.find((item) => !item.error);
    if (found) return { run, step: found.step, rank: found.rank };
  }
  return null;
}

/** What opens in the place of a step or rank that its run does not have: of the same step, else of the same rank, else the first that can be read. Null where it has it. */
export function insteadOf(key: GraphKey, runs: readonly RunWithGraphs[]): GraphKey | null {
  const graphs = runs.find((item) => item.run === key.run)?.graphs ?? [];
  if (graphs.some((item) => item.step === key.step && item.rank === key.rank)) return null;
  const readable = graphs.filter((item) => !item.error);
  const found = readable.find((item) => item.step === key.step) ?? readable.find((item) => item.rank === key.rank) ?? readable.at(0);
  return found ? { run: key.run, step: found.step, rank: found.rank } : null;
}
