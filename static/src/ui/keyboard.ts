/** Keys for the whole page. Letters act only where nobody is typing. */
import { across, step, type Move } from '../core/navigate';
import { closeFold, fitSelection, select, stepLeft, stepRight, toggle, toggleOverview } from '../state/actions';
import { graph, panel, selection } from '../state/app';
import { goToFinding } from '../state/findings';
import { layout } from '../state/view';
import { helpOpen } from './help';
import { offered } from './panels';

function typing(target: EventTarget | null): boolean {
  const element = target as HTMLElement | null;
  return element !== null && (element.tagName === 'INPUT' || element.tagName === 'TEXTAREA' || element.tagName === 'SELECT' || element.isContentEditable);
}

/** Buttons, lists and tables keep Enter, space and the arrows for themselves. */
function ownsArrows(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('button, summary, [role=listbox], [role=application], [role=separator], .scrolls') !== null;
}

const MOVES: Readonly<Record<string, Move>> = { ArrowUp: 'up', ArrowDown: 'down', Home: 'first', End: 'last', PageUp: 'pageUp', PageDown: 'pageDown' };

function move(direction: Move): void {
  if (!layout.value) return;
  const from = selection.value;
  select(from ? step(layout.value, from, direction) : { side: 'target', node: 1 }, { show: true });
}

function onLetter(key: string): boolean {
  switch (key) {
    case 'n':
      goToFinding(1);
      return true;
    case 'p':
      goToFinding(-1);
      return true;
    case 'f':
      fitSelection();
      return true;
    case 'o':
      toggleOverview();
      return true;
    case 'x': {
      const to = selection.value && graph.value ? across(graph.value, selection.value) : null;
      if (to) select(to, { reveal: true });
      return true;
    }
    case 'z':
      if (selection.value) closeFold(selection.value);
      return true;
    case '/': {
      const box = document.getElementById('search-box') as HTMLInputElement | null;
      box?.focus();
      box?.select();
      return box !== null;
    }
    case '?':
      helpOpen.value = !helpOpen.value;
      return true;
    default: {
      const entry = offered().find((item) => item.key === key);
      if (entry) panel.value = panel.value === entry.id ? null : entry.id;
      return entry !== undefined;
    }
  }
}

function onArrow(event: KeyboardEvent): boolean {
  if (ownsArrows(event.target)) return false;
  const direction = MOVES[event.key];
  if (direction) {
    move(direction);
    return true;
  }
  if (event.key === 'ArrowLeft') stepLeft();
  else if (event.key === 'ArrowRight') stepRight();
  else if (event.key === 'Enter' || event.key === ' ') {
    if (selection.value) toggle(selection.value);
  } else return false;
  return true;
}

function onEscape(): void {
  if (helpOpen.value) helpOpen.value = false;
  else (document.activeElement as HTMLElement | null)?.blur?.();
}

export function followKeys(window_: Window): void {
  window_.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || !graph.value) return;
    if (event.key === 'Escape') {
      if (typing(event.target)) event.preventDefault(); // the browser would empty the search box, but not the query
      else if (!helpOpen.value) select(null);
      onEscape();
      return;
    }
    if (typing(event.target)) return;
    if (onArrow(event) || onLetter(event.key)) event.preventDefault();
  });
}
