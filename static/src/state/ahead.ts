/** What the first large expansion and the first search would otherwise have to work out or to ask for, done while nobody waits for anything. */
import { effect } from '@preact/signals';
import { EXPANDED, type Folds } from '../core/folds';
import { arrange } from '../core/layout';
import { nameGroups } from '../core/name_expression';
import { parseQuery } from '../core/query';
import { fillRows, RowBuffer } from '../core/rows';
import { ORDERS, search } from '../core/search';
import { NodeKind, sideOf, SIDES, type Graph, type Side, type SideName } from '../core/types';
import { graph } from './app';
import { fetchNumbersAhead } from './pair_numbers';
import { index, text } from './search';
import { folds, layoutWidth, pillWidths, type PillWidths } from './view';

const AT_ONCE = 512; // nodes between two looks at the clock
const REHEARSED = 12_000; // nodes a side
const REHEARSALS = 8;
const FRAME = 8; // milliseconds, where the browser does not say how long it is idle

/** Which repeats continue and how wide calls are: both are kept once a node. */
function* ahead(open: Graph, repeats: Folds, widths: PillWidths): Generator<void> {
  void text.peek(); // the text that is searched
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
  yield* rehearse(open, repeats, widths);
  yield* rehearseSearches();
}

/**
 * A layout of the first nodes, opened, that nobody sees: browsers run new code slowly and compile what is used often, so
 * that without it the first large expansion takes twice as long as the second.
 */
function* rehearse(open: Graph, repeats: Folds, widths: PillWidths): Generator<void> {
  const opened = (which: SideName): Uint8Array => new Uint8Array(sideOf(open, which)?.count ?? 0).fill(EXPANDED, 0, REHEARSED);
  const state = { target: opened('target'), golden: open.golden ? opened('golden') : null };
  const buffers = SIDES.map((which) => new RowBuffer(sideOf(open, which)?.count ?? 0));
  for (let time = 0; time < REHEARSALS; time++) {
    yield;
    const [target, golden] = SIDES.map((which, k) => fillRows(buffers[k], open, which, state, repeats, -1));
    arrange(open, target, open.golden ? golden : null, { width: layoutWidth.peek(), pillTextWidth: widths.of, knownTextWidths: widths.known });
  }
}

/** Terms of the kinds that look at every node. */
const TERMS = ['m', 'a.1', 'm.1?', '/^m.*o/', '/m.*\\d$/', 'class:o', 'path:m', 'is:error', 'is:unmatched', 'kind:api', 'error>0', '-is:pass'];

/** The same for searches and their orders: nobody sees what they find. The names' groups come first, since they are kept. */
function* rehearseSearches(): Generator<void> {
  const at = index.peek();
  if (!at) return;
  const first = (side: Side): Side => ({ ...side, count: Math.min(side.count, REHEARSED) });
  for (const which of SIDES) {
    const side = sideOf(at.graph, which);
    if (!side) continue;
    const groups = nameGroups(side, at.text.end.length);
    for (let limit = AT_ONCE; !groups.workOut(limit); limit += AT_ONCE) yield;
  }
  const part = { ...at, graph: { ...at.graph, target: first(at.graph.target), golden: at.graph.golden && first(at.graph.golden) } };
  for (let time = 0; time < REHEARSALS; time++) {
    for (const [i, term] of TERMS.entries()) {
      yield;
      search(part, parseQuery(term), ORDERS[i % ORDERS.length]);
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
