/** The address bar of the page around: inside TensorBoard the parent's hash, where plugins keep their fields, else the page's own. */
import type { GraphKey } from '../core/types';

export const PLUGIN = 'tb_graph_ascend';

/** TensorBoard's way to keep a plugin's data in the address: `#plugin&p.plugin.key=value`. */
export const FIELD_PREFIX = `p.${PLUGIN}.`;

/** The page around that may be looked at; null where there is none, or where it is of another origin. */
export function parentWindow(): Window | null {
  try {
    if (window.parent !== window && window.parent.document) return window.parent;
  } catch {
    // Another origin: the parent may not be looked at.
  }
  return null;
}

/** Hash of the page that the person sees in the address bar, without "#". */
export function readHash(): string {
  return (parentWindow() ?? window).location.hash.replace(/^#/, '');
}

/** Replaces the hash without a new entry in the history, so that TensorBoard's own navigation is not disturbed. */
export function writeHash(hash: string): void {
  const outer = parentWindow() ?? window;
  try {
    outer.history.replaceState(outer.history.state, '', `${outer.location.pathname}${outer.location.search}#${hash}`);
  } catch {
    // A page from disk in some browsers: the address then simply stays.
  }
}

export function onHashChange(changed: () => void): void {
  (parentWindow() ?? window).addEventListener('hashchange', changed);
}

/** The whole address that a colleague can open. */
export function shareAddress(): string {
  return (parentWindow() ?? window).location.href;
}

/** The plugin's fields in a hash. A field with a broken escape is left out, the others still count. */
export function hashFields(hash: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const part of hash.split('&')) {
    const equals = part.indexOf('=');
    if (equals < 0 || !part.startsWith(FIELD_PREFIX)) continue;
    try {
      fields.set(part.slice(FIELD_PREFIX.length, equals), decodeURIComponent(part.slice(equals + 1).replace(/\+/g, ' ')));
    } catch {
      // A broken escape.
    }
  }
  return fields;
}

/** A whole number in a field; `otherwise` where there is none. */
export function wholeNumber(text: string | undefined, otherwise: number): number {
  return text !== undefined && /^-?\d+$/.test(text) ? Number(text) : otherwise;
}

/** Stands for a step or rank that is no number: no run has it. */
const NO_STEP = -1;

/** The graph that the fields name. A step or rank that is left out is 0. */
export function graphKey(fields: ReadonlyMap<string, string>): GraphKey | null {
  const run = fields.get('run');
  const number = (name: 'step' | 'rank'): number => (fields.get(name) ? wholeNumber(fields.get(name), NO_STEP) : 0);
  return run === undefined ? null : { run, step: number('step'), rank: number('rank') };
}
