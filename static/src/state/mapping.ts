/** The mapping that is being edited: its text, what it would do, and putting it into force. */
import { batch, computed, effect, signal } from '@preact/signals';
import { problemText } from './open';
import { exported, source } from './app';
import { keepMapping, marks } from './marks';
import { answer, apply, inForce, preview, stored, type MappingChoice, type Rematched, type RuleHits } from './rematch';
import type { LocalText } from '../wire/source';

export interface Template {
  readonly name: string;
  readonly title: string;
  readonly title_zh: string;
  readonly text: string;
}

export const draft = signal('');
export const draftName = signal('mapping.yaml');
/** What the draft would do; null while it is not known. */
export const effectOfDraft = signal<Rematched | null>(null);
/** The last draft that could be tried: its text, and what it would do. It stays while a newer one is refused. */
const lastTried = signal<{ readonly text: string; readonly effect: Rematched } | null>(null);
export const draftProblem = signal<LocalText | null>(null);
export const previewing = signal(false);
export const templates = signal<readonly Template[] | null>(null);
export const policies = signal<readonly string[] | null>(null);

const PAUSE = 500; // milliseconds after the last key
let timer: ReturnType<typeof setTimeout> | undefined;
let attempt = 0;

/** Text of the mapping that made the pairs on the screen. */
export const textInForce = computed<string>(() => {
  const { mapping } = inForce.value;
  if (mapping === 'file') return stored.value?.summary.mapping?.text ?? '';
  return mapping?.text ?? '';
});

export const nameInForce = computed<string>(() => {
  const { mapping } = inForce.value;
  const name = mapping === 'file' ? (stored.value?.summary.mapping?.text ? stored.value.summary.mapping.name : '') : (mapping?.name ?? '');
  return name.split(/[\\/]/).pop() ?? '';
});

/** Rules with hits, as they are shown. */
export interface ShownRules {
  readonly of: 'draft' | 'lastTried' | 'inForce'; // the last two while the draft is refused
  readonly text: string; // that their lines count in
  readonly rules: readonly RuleHits[];
  readonly effect: Rematched | null; // that says more about them
}

/** Of the draft where its effect is known, else of the last one that could be tried, else of what is in force. */
export const shownRules = computed<ShownRules>(() => {
  const tried = lastTried.value;
  if (tried) return { of: effectOfDraft.value ? 'draft' : tried.text === textInForce.value ? 'inForce' : 'lastTried', text: tried.text, rules: tried.effect.rules, effect: tried.effect };
  return { of: draftProblem.value ? 'inForce' : 'draft', text: textInForce.value, rules: answer.value?.rules ?? stored.value?.summary.mapping?.rules ?? [], effect: answer.value };
});

export const changedDraft = computed(() => draft.value !== textInForce.value);

function choiceOf(text: string): MappingChoice {
  if (text.trim() === '') return stored.value?.summary.mapping?.text ? null : 'file';
  if (text === stored.value?.summary.mapping?.text) return 'file';
  return { name: draftName.value, text };
}

/** Changes the draft; what it would do is asked for a moment later. */
export function edit(text: string, name?: string): void {
  batch(() => {
    draft.value = text;
    if (name !== undefined) draftName.value = name;
    draftProblem.value = null;
  });
  clearTimeout(timer);
  timer = setTimeout(() => void look(), PAUSE);
}

/** Asks what the draft would do. */
export async function look(): Promise<void> {
  const mine = ++attempt;
  const open = stored.value;
  if (!open?.golden || exported.value) return;
  previewing.value = true;
  try {
    const text = draft.value;
    const found = await preview({ ...inForce.value, mapping: choiceOf(text), matches: marks.value.matches });
    if (mine === attempt && stored.value === open) {
      batch(() => {
        effectOfDraft.value = found;
        lastTried.value = { text, effect: found };
        draftProblem.value = null;
      });
    }
  } catch (problem) {
    if (mine !== attempt) return;
    batch(() => {
      effectOfDraft.value = null;
      draftProblem.value = problemText(problem);
    });
  } finally {
    if (mine === attempt) previewing.value = false;
  }
}

export async function applyDraft(): Promise<boolean> {
  clearTimeout(timer);
  const choice = choiceOf(draft.value);
  const done = await apply({ mapping: choice });
  if (done) {
    keepMapping(choice);
    await look();
  }
  return done;
}

export function revertDraft(): void {
  edit(textInForce.value, nameInForce.value || 'mapping.yaml');
}

export async function judgeBy(policy: string): Promise<boolean> {
  return policy === inForce.value.policy || apply({ policy });
}

/** Rules that say what the pairs say, written by the server. Throws SourceError. */
export async function proposeRules(pairs: 'all' | 'manual'): Promise<string> {
  const open = stored.value;
  const from = source.value;
  if (!open || !from) return '';
  const force = inForce.value;
  const made = await from.request<{ readonly text: string }>('propose', {}, { ...open.key, mapping: force.mapping, matches: marks.value.matches, pairs });
  return made.text;
}

/** Lists templates and policies once. */
export async function wantTemplates(): Promise<void> {
  const from = source.value;
  if (!from || templates.value || exported.value) return;
  templates.value = [];
  try {
    templates.value = await from.request<Template[]>('templates', {});
    policies.value = (await from.request<{ name: string }[]>('policies', {})).map((item) => item.name);
  } catch {
    // There are none to choose from.
  }
}

/** Call once a page: another graph, another mapping. */
export function followMapping(): void {
  let shown = '';
  effect(() => {
    // A mapping that was kept, or one that an undo brings back, takes the place of a draft that nobody has touched.
    const text = textInForce.value;
    batch(() => {
      if (draft.peek() === shown) {
        draft.value = text;
        draftName.value = nameInForce.peek() || 'mapping.yaml';
        effectOfDraft.value = null;
        lastTried.value = null;
      }
    });
    shown = text;
  });
  effect(() => {
    const open = stored.value;
    clearTimeout(timer);
    attempt++;
    batch(() => {
      draft.value = open?.summary.mapping?.text ?? '';
      draftName.value = open?.summary.mapping?.name.split(/[\\/]/).pop() || 'mapping.yaml';
      effectOfDraft.value = null;
      lastTried.value = null;
      draftProblem.value = null;
      previewing.value = false;
    });
  });
}
