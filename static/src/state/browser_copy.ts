/** What this browser remembers by itself: who writes, and matches and marks that are in no file (yet). */
import { marksOf, NO_MARKS, type Marks } from '../core/marks';
import type { GraphKey } from '../core/types';

export function remembered(name: string): string {
  try {
    return localStorage.getItem(`tb_graph_ascend.${name}`) ?? '';
  } catch {
    return '';
  }
}

/** False where the browser's storage is forbidden or full: then it holds until the page is closed. */
export function remember(name: string, text: string): boolean {
  try {
    localStorage.setItem(`tb_graph_ascend.${name}`, text);
    return true;
  } catch {
    return false;
  }
}

function nameOf(key: GraphKey): string {
  return `matches.${key.run}|${key.step}|${key.rank}`;
}

/** Matches and marks of one graph; `base` is what its file held when they were made: what was taken out of it is known by that. */
export interface BrowserCopy {
  readonly base: Marks;
  readonly now: Marks;
}

/** False where the browser cannot keep it. */
export function keepInBrowser(key: GraphKey, now: Marks, base: Marks): boolean {
  return remember(nameOf(key), JSON.stringify({ ...now, base }));
}

export function isInBrowser(key: GraphKey): boolean {
  return remembered(nameOf(key)) !== '';
}

export function fromBrowser(key: GraphKey): BrowserCopy {
  try {
    const found = JSON.parse(remembered(nameOf(key)) || 'null') as (Partial<Marks> & { readonly base?: Partial<Marks> }) | null;
    return { base: marksOf(found?.base ?? null), now: marksOf(found) };
  } catch {
    return { base: NO_MARKS, now: NO_MARKS };
  }
}

export function forgetInBrowser(key: GraphKey): void {
  try {
    localStorage.removeItem(`tb_graph_ascend.${nameOf(key)}`);
  } catch {
    // Forbidden: then nothing is kept there either.
  }
}
