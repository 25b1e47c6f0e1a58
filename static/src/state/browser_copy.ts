/** Matches and marks that are in no file (yet): this browser keeps them. */
import { marksOf, NO_MARKS, type Marks } from '../core/marks';
import type { GraphKey } from '../core/types';
import { forget, keep, kept } from '../host/storage';

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
  return keep(nameOf(key), JSON.stringify({ ...now, base }));
}

export function isInBrowser(key: GraphKey): boolean {
  return kept(nameOf(key)) !== null;
}

export function fromBrowser(key: GraphKey): BrowserCopy {
  try {
    const found = JSON.parse(kept(nameOf(key)) || 'null') as (Partial<Marks> & { readonly base?: Partial<Marks> }) | null;
    return { base: marksOf(found?.base ?? null), now: marksOf(found) };
  } catch {
    return { base: NO_MARKS, now: NO_MARKS };
  }
}

const WRITTEN = 'written'; // kept for a moment: which file of matches a tab of this browser has just written

/** Tells the other tabs of this browser that the file of a graph is another one now. */
export function tellWritten(key: GraphKey, revision: string): void {
  keep(WRITTEN, `${nameOf(key)}|${revision}`);
  forget(WRITTEN); // it has been heard, and nothing is to be read later
}

/** Whether what another tab has kept anew is about the matches of this graph: written into its file, or kept in this browser. */
export function isAbout(key: GraphKey, name: string, text: string): boolean {
  return name === nameOf(key) || (name === WRITTEN && text.startsWith(`${nameOf(key)}|`));
}

export function forgetInBrowser(key: GraphKey): void {
  forget(nameOf(key));
}
