/** What the first large expansion and the first search would otherwise have to work out or to ask for, done while nobody waits for anything. */
import { effect } from '@preact/signals';
import type { Folds } from '../core/folds';
import { NodeKind, sideOf, SIDES, type Graph } from '../core/types';
import { graph } from './app';
import { fetchNumbersAhead } from './pair_numbers';
import { text } from './search';
import { folds, pillWidths, type PillWidths } from './view';

const AT_ONCE = 512; // nodes between two looks at the clock
const FRAME = 8; // milliseconds, where the browser does not say how long it is idle

/** Which repeats continue and how wide calls are: both are kept once a node. */
function* ahead(open: Graph, repeats: Folds, widths: PillWidths): Generator<void> {
  for (const which of SIDES) {
    const side = sideOf(open, which);
    if (!side) continue;
    const { kind, end, count } = side;
    for (let node = 1; node < count; node++) {
      if (end[node] === node + 1 && (kind[node] === NodeKind.api || kind[node] === NodeKind.parametersGrad)) widths.of(which, node);
      else if (end[node] < count) repeats.continues(which, node, end[node]);
      if (node % AT_ONCE === 0) yield;
    }
  }
}

function whenIdle(work: (left: () => number) => void): () => void {
  if (typeof requestIdleCallback === 'function') {
    const handle = requestIdleCallback((idle) => work(() => idle.timeRemaining()));
    return () => cancelIdleCallback(handle);
  }
  const timer = setTimeout(() => {
    const until = performance.now() + FRAME;
    work(() => until - performance.now());
  }, 50);
  return () => clearTimeout(timer);
}

/** Call once a page; begins anew with every graph. */
export function workAhead(): void {
  effect(() => {
    const open = graph.value;
    const repeats = folds.value;
    const widths = pillWidths.value;
    if (!open || !repeats || !widths) return undefined;
    void text.value;
    const steps = ahead(open, repeats, widths);
    let cancel = (): void => undefined;
    const go = (left: () => number): void => {
      do {
        if (steps.next().done) {
          fetchNumbersAhead(open);
          return;
        }
      } while (left() > 1);
      cancel = whenIdle(go);
    };
    cancel = whenIdle(go);
    return () => cancel();
  });
}
