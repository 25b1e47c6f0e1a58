/** The open graph under other pairs: asks the server to match again, puts the answer in the place of what the file holds, and back. */
import { batch, effect, signal } from '@preact/signals';
import { bytesOf } from '../core/base64';
import type { MatchEntry } from '../core/marks';
import type { Graph, Said } from '../core/types';
import { gunzip } from '../wire/gunzip';
import { withPairs } from '../wire/decode';
import type { OverlaySource } from '../wire/overlay';
import { SourceError, type LocalText } from '../wire/source';
import { exported, graph, source } from './app';
import { problemText } from './open';
import { openState, openVersion } from './view';

/** Where the rules come from: the graph file's own mapping, none, or a text. */
export type MappingChoice = 'file' | null | { readonly name: string; readonly text: string };

export interface RuleHits {
  readonly scope: string;
  readonly source: string;
  readonly target: string;
  readonly line: number;
  readonly hits: number;
}

export interface LeftOver {
  readonly modules: number;
  readonly paired: number;
  readonly classes: readonly { readonly class: string; readonly count: number; readonly sample: string }[];
}

export type PairNodes = readonly [readonly number[], readonly number[]];

/** Answer of POST rematch (docs/http_api.md). */
export interface Rematched {
  readonly sections: Readonly<Record<'summary' | 'pairs' | 'verdicts', string>>;
  readonly comparisons: Readonly<Record<string, string>>;
  readonly rules: readonly RuleHits[];
  readonly counts: { readonly pairs: number; readonly before: number; readonly new: number; readonly gone: number; readonly kept: number };
  readonly new: readonly PairNodes[];
  readonly gone: readonly PairNodes[];
  readonly left: { readonly target: LeftOver; readonly golden: LeftOver };
  readonly messages: readonly { readonly line: number; readonly column: number; readonly text: string; readonly said: string | Said }[];
}

/** What the pairs on the screen are made by. */
export interface InForce {
  readonly mapping: MappingChoice;
  readonly policy: string; // 'file' or the name of a shipped policy
  readonly matches: readonly MatchEntry[];
}

/** Stands for the policy that the graph was judged by when it was converted. */
export const FILE_POLICY = 'file';
const AS_STORED: InForce = { mapping: 'file', policy: FILE_POLICY, matches: [] };

/** The graph as its file holds it; null before one is open. */
export const stored = signal<Graph | null>(null);
export const inForce = signal<InForce>(AS_STORED);
/** The answer that is on the screen; null while that is the file's own. */
export const answer = signal<Rematched | null>(null);
export const working = signal(false);
export const problem = signal<LocalText | null>(null);

let overlay: OverlaySource | null = null;
let ours: Graph | null = null; // the last graph that this module put on the screen
let attempt = 0;
let wanted: InForce = AS_STORED;

function body(open: Graph, force: InForce): Record<string, unknown> {
  return { ...open.key, mapping: force.mapping, policy: force.policy, matches: force.matches };
}

function asStored(force: InForce): boolean {
  return force.mapping === 'file' && force.policy === FILE_POLICY && force.matches.length === 0;
}

/** What another mapping would do; changes nothing. Throws SourceError. */
export async function preview(force: InForce): Promise<Rematched> {
  const open = stored.value;
  const from = source.value;
  if (!open || !from) throw new SourceError({ en: 'No graph is open.', zh: '没有打开的图。' }, 'no_graph');
  return from.request<Rematched>('rematch', {}, { ...body(open, force), preview: true });
}

/** Puts other pairs into force. Several calls in a row: the last one counts. Returns whether it is on the screen. */
export async function apply(change: Partial<InForce>): Promise<boolean> {
  const open = stored.value;
  const from = source.value;
  if (!open || !from || exported.value) return false; // an exported page has nobody to ask: its pairs stay as converted
  wanted = { ...wanted, ...change };
  const force = wanted;
  const mine = ++attempt;
  if (asStored(force)) {
    working.value = false;
    put(open, null, force, new Map());
    return true;
  }
  working.value = true;
  problem.value = null;
  try {
    const made = await from.request<Rematched>('rematch', {}, body(open, force));
    const names = ['pairs', 'verdicts', 'summary'] as const;
    const [pairs, verdicts, summary] = await Promise.all(names.map((name) => unpack(made.sections[name])));
    const comparisons = new Map(await Promise.all(Object.entries(made.comparisons).map(async ([name, text]) => [name, await unpack(text)] as const)));
    if (mine !== attempt || stored.value !== open) return false;
    put(withPairs(open, pairs, verdicts, summary), made, force, comparisons);
    return true;
  } catch (failed) {
    if (mine !== attempt) return false;
    const now = inForce.value;
    // A policy that is not there (of an old link, say) must not keep matches and a mapping out of force.
    if (force.policy !== now.policy && (force.mapping !== now.mapping || force.matches !== now.matches)) {
      wanted = { ...force, policy: now.policy };
      const done = await apply({});
      problem.value ??= problemText(failed);
      return done;
    }
    problem.value = problemText(failed);
    wanted = now;
    return false;
  } finally {
    if (mine === attempt) working.value = false;
  }
}

function unpack(base64: string): Promise<Uint8Array> {
  return gunzip(bytesOf(base64));
}

/** Shows a graph of the same nodes; what is open and selected stays. */
function put(next: Graph, made: Rematched | null, force: InForce, comparisons: ReadonlyMap<string, Uint8Array>): void {
  const before = openState.value;
  overlay?.put(made ? { key: next.key, version: next.version, sections: comparisons } : null);
  ours = next;
  batch(() => {
    graph.value = next;
    answer.value = made;
    inForce.value = force;
    problem.value = null;
    const after = openState.value;
    if (before && after) {
      after.target.set(before.target);
      if (before.golden) after.golden?.set(before.golden);
      openVersion.value++;
    }
  });
}

/** Call once a page, with the source that everything is asked through. */
export function followOpening(through: OverlaySource): void {
  overlay = through;
  effect(() => {
    const open = graph.value;
    if (!open || open === ours) return;
    attempt++;
    ours = open;
    wanted = AS_STORED;
    through.put(null);
    batch(() => {
      stored.value = open;
      inForce.value = AS_STORED;
      answer.value = null;
      problem.value = null;
      working.value = false;
    });
  });
}
