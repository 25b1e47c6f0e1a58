/** What is remembered in the browser: language, theme, sizes. A tab keeps its own choices through a reload; a new tab begins with the last ones made anywhere. */
import { effect } from '@preact/signals';
import { keep, keepInTab, keptInTab } from '../host/storage';
import { locale } from '../i18n/locale';
import { detailsHeight, detailsOpen, panel, panelWidth, stripChosen, syncExpansion, theme, windowHeight, windowWidth, type PanelId } from './app';

/** What another tab's choice must not change here at the next reload, even where nobody chose anything. */
const ofTab: ReadonlySet<string> = new Set(['locale', 'theme']);

/** The panel that is open where nobody asked for one. A small frame (notebook, editor): the graphs come first. */
export function usualPanel(): PanelId | null {
  return window.innerWidth < 1000 ? null : 'findings';
}

export function loadPreferences(): void {
  const stored = keptInTab('theme');
  if (stored === 'light' || stored === 'dark' || stored === 'auto') theme.value = stored;
  const height = Number(keptInTab('detailsHeight'));
  if (height >= 80 && height <= 2000) detailsHeight.value = height;
  const width = Number(keptInTab('panelWidth'));
  if (width >= 160 && width <= 900) panelWidth.value = width;
  if (keptInTab('detailsOpen') === 'false') detailsOpen.value = false;
  if (keptInTab('stripOpen') !== null) stripChosen.value = keptInTab('stripOpen') === 'true';
  window.addEventListener('resize', () => {
    windowHeight.value = window.innerHeight;
    windowWidth.value = window.innerWidth;
  });
  if (keptInTab('syncExpansion') === 'false') syncExpansion.value = false;
  panel.value = usualPanel();
  if (keptInTab('detailsHeight') === null && window.innerHeight < 780) detailsHeight.value = 170;
}

export function savePreferences(): void {
  const follow = (name: string, value: () => string): void => {
    let first = true;
    effect(() => {
      const text = value();
      // Only what a person changed is remembered; defaults may depend on the window.
      if (!first || ofTab.has(name)) keepInTab(name, text);
      if (!first) keep(name, text);
      first = false;
    });
  };
  follow('locale', () => locale.value);
  follow('theme', () => theme.value);
  follow('detailsHeight', () => String(detailsHeight.value));
  follow('panelWidth', () => String(panelWidth.value));
  follow('detailsOpen', () => String(detailsOpen.value));
  follow('stripOpen', () => String(stripChosen.value));
  follow('syncExpansion', () => String(syncExpansion.value));
}
