/** Conversions in the browser: what can be converted, starting one, following it, ending it. */
import { signal } from '@preact/signals';
import type { Said } from '../core/types';
import { chosen, graph, runs, source } from './app';
import { listRuns, openGraph, problemText } from './open';
import type { LocalText, RunGraph } from '../wire/source';

export interface Dump {
  readonly name: string;
  readonly ranks: number;
}

export interface Conversion {
  readonly id: string;
  readonly state: 'running' | 'done' | 'failed' | 'cancelled';
  readonly percent: number;
  readonly run: string;
  readonly error: string;
  readonly said: string | Said;
  readonly lines: readonly string[];
}

export interface ConvertOptions {
  readonly target: string;
  readonly golden: string;
  readonly match: string;
  readonly policy: string;
  readonly overflow: boolean;
  readonly mapping: { readonly name: string; readonly text: string } | null;
  readonly matches: readonly unknown[];
}

export const dumps = signal<readonly Dump[] | null>(null);
export const conversion = signal<Conversion | null>(null);
export const failure = signal<LocalText | null>(null);

const AGAIN = 500; // milliseconds between two questions

export async function wantDumps(): Promise<void> {
  const from = source.value;
  if (!from) return;
  try {
    const found = await from.request<{ readonly dumps: readonly Dump[]; readonly running: Conversion | null }>('dumps', {});
    dumps.value = found.dumps;
    if (found.running && !conversion.value) follow(found.running);
  } catch (problem) {
    failure.value = problemText(problem);
  }
}

export async function start(options: ConvertOptions): Promise<void> {
  const from = source.value;
  if (!from) return;
  failure.value = null;
  try {
    follow(await from.request<Conversion>('convert', {}, options));
  } catch (problem) {
    failure.value = problemText(problem);
  }
}

function follow(now: Conversion): void {
  conversion.value = now;
  if (now.state === 'running') setTimeout(() => void ask(now.id), AGAIN);
  // Where nothing is open yet there is nothing to take away from anybody: the result comes at once.
  else if (now.state === 'done') void (graph.value ? listRuns(false) : openResult());
}

async function ask(id: string): Promise<void> {
  const from = source.value;
  if (!from || conversion.value?.id !== id || conversion.value.state !== 'running') return;
  try {
    follow(await from.request<Conversion>('convert', { id }));
  } catch (problem) {
    failure.value = problemText(problem);
    conversion.value = null;
  }
}

export async function cancel(): Promise<void> {
  const from = source.value;
  const now = conversion.value;
  if (!from || !now) return;
  try {
    conversion.value = await from.request<Conversion>('convert/cancel', {}, { id: now.id });
  } catch (problem) {
    failure.value = problemText(problem);
  }
}

const LOOKS = 20; // how often the list of runs is asked for a run that was just written

async function firstGraphOf(name: string): Promise<RunGraph | null> {
  for (let look = 0; look < LOOKS; look++) {
    await listRuns(false);
    const found = runs.value?.runs.find((run) => run.run === name);
    if (found) return found.graphs.find((item) => !item.error) ?? null;
    await new Promise((done) => setTimeout(done, AGAIN));
  }
  return null;
}

/** Opens what a conversion made: its first graph. */
export async function openResult(): Promise<void> {
  const name = conversion.value?.run;
  if (!name) return;
  const first = await firstGraphOf(name);
  if (first) await openGraph({ run: name, step: first.step, rank: first.rank });
  if (chosen.value?.run === name) conversion.value = null;
}
