/** What this browser keeps for the viewer, by name. Storage may be forbidden (frames of foreign pages) or full: then nothing is kept. */
import { PLUGIN } from './address';

function tried<T>(work: () => T, otherwise: T): T {
  try {
    return work();
  } catch {
    return otherwise;
  }
}

function nameOf(name: string): string {
  return `${PLUGIN}.${name}`;
}

/** Of any tab; null where nothing is kept under that name. */
export function kept(name: string): string | null {
  return tried(() => localStorage.getItem(nameOf(name)), null);
}

/** Of this tab, else of any: a tab keeps its own through a reload, a new one begins with the last of all. */
export function keptInTab(name: string): string | null {
  return tried(() => sessionStorage.getItem(nameOf(name)), null) ?? kept(name);
}

/** False where nothing can be kept: then it holds until the page is closed. */
export function keep(name: string, text: string): boolean {
  return tried(() => (localStorage.setItem(nameOf(name), text), true), false);
}

export function keepInTab(name: string, text: string): void {
  tried(() => sessionStorage.setItem(nameOf(name), text), undefined);
}

/** Tells when another tab of this browser keeps something anew. */
export function onKeptElsewhere(heard: (name: string, text: string) => void): void {
  window.addEventListener('storage', ({ key, newValue }) => {
    if (key?.startsWith(nameOf('')) && newValue !== null) heard(key.slice(nameOf('').length), newValue);
  });
}

export function forget(name: string): void {
  tried(() => localStorage.removeItem(nameOf(name)), undefined);
}
