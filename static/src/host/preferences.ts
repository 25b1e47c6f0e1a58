/** What is remembered in the browser: language, theme, sizes. Storage may be forbidden in foreign frames; then nothing is.
 *  A tab keeps its own choices through a reload; a new tab begins with the last ones made anywhere. */
import { effect } from '@preact/signals';
import { detailsHeight, detailsOpen, locale, panel, panelWidth, stripChosen, syncExpansion, theme, windowHeight } from '../state/app';

const PREFIX = 'tb_graph_ascend.';

function read(name: string): string | null {
  try {
    return sessionStorage.getItem(PREFIX + name) ?? localStorage.getItem(PREFIX + name);
  } catch {
    return null;
  }
}

function writeTo(storage: () => Storage, name: string, value: string): void {
  try {
    storage().setItem(PREFIX + name, value);
  } catch {
    // Forbidden or full: the choice holds until the page is closed.
  }
}

function write(name: string, value: string): void {
  writeTo(() => sessionStorage, name, value);
  writeTo(() => localStorage, name, value);
}

/** What another tab's choice must not change here at the next reload, even where nobody chose anything. */
const ofTab: ReadonlySet<string> = new Set(['locale', 'theme']);

export function loadPreferences(): void {
  const stored = read('theme');
  if (stored === 'light' || stored === 'dark' || stored === 'auto') theme.value = stored;
  const height = Number(read('detailsHeight'));
  if (height >= 80 && height <= 2000) detailsHeight.value = height;
  const width = Number(read('panelWidth'));
  if (width >= 160 && width <= 900) panelWidth.value = width;
  if (read('detailsOpen') === 'false') detailsOpen.value = false;
  if (read('stripOpen') !== null) stripChosen.value = read('stripOpen') === 'true';
  window.addEventListener('resize', () => (windowHeight.value = window.innerHeight));
  if (read('syncExpansion') === 'false') syncExpansion.value = false;
  // A small frame (notebook, editor): the graphs come first.
  if (window.innerWidth < 1000) panel.value = null;
  if (read('detailsHeight') === null && window.innerHeight < 780) detailsHeight.value = 170;
}

export function savePreferences(): void {
  const keep = (name: string, value: () => string): void => {
    let first = true;
    effect(() => {
      const text = value();
      // Only what a person changed is remembered; defaults may depend on the window.
      if (!first) write(name, text);
      else if (ofTab.has(name)) writeTo(() => sessionStorage, name, text);
      first = false;
    });
  };
  keep('locale', () => locale.value);
  keep('theme', () => theme.value);
  keep('detailsHeight', () => String(detailsHeight.value));
  keep('panelWidth', () => String(panelWidth.value));
  keep('detailsOpen', () => String(detailsOpen.value));
  keep('stripOpen', () => String(stripChosen.value));
  keep('syncExpansion', () => String(syncExpansion.value));
}
