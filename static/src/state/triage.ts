/** What the marks of a person explain, while they are hidden: pairs left out, and what then comes first. */
import { computed } from '@preact/signals';
import { expectedPairs, firstLeft, type FirstLeft } from '../core/expected';
import type { Graph } from '../core/types';
import type { FirstDivergence } from '../wire/graph_pb.js';
import { expectedGolden, expectedTarget, graph, hideExpected } from './app';

/** Per pair, see core/expected; null while nothing is hidden. */
export const hiddenPairs = computed<Uint8Array | null>(() => {
  const open = graph.value;
  if (!open?.golden || !hideExpected.value || expectedTarget.value.size + expectedGolden.value.size === 0) return null;
  return expectedPairs(open, expectedTarget.value, expectedGolden.value);
});

export type PassDirection = 'forward' | 'backward';

/** Earliest pairs that are left, by direction; null while nothing is hidden. */
const left = computed<Readonly<Record<PassDirection, FirstLeft>> | null>(() => {
  const open = graph.value;
  const hidden = hiddenPairs.value;
  return open && hidden ? { forward: firstLeft(open, hidden, 'forward'), backward: firstLeft(open, hidden, 'backward') } : null;
});

function isHidden(found: FirstDivergence): boolean {
  if (hiddenPairs.value && found.pair >= 0 && hiddenPairs.value[found.pair] > 0) return true;
  return found.target_node > 0 ? expectedTarget.value.has(found.target_node) : expectedGolden.value.has(found.golden_node);
}

export interface FirstShown {
  /** As the converter found it, with its sentence. */
  readonly found: FirstDivergence | null;
  /** Where that one is marked: what comes next. `pair` -1 = all that began something is marked. */
  readonly next: FirstLeft | null;
  readonly before: number; // marked ones before it
}

/** The first divergence of a direction that is not hidden. */
export function firstShown(open: Graph, which: PassDirection): FirstShown {
  const found = open.summary[which] ?? null;
  const now = left.value;
  if (!now) return { found, next: null, before: 0 };
  // Backward speaks for itself only where nothing is left in forward.
  if (which === 'backward' && !found && !(open.summary.forward && isHidden(open.summary.forward) && now.forward.pair < 0)) return { found, next: null, before: 0 };
  if (found && !isHidden(found)) return { found, next: null, before: now[which].node === found.target_node ? now[which].before : 0 };
  const next = found || now[which].pair >= 0 ? now[which] : null;
  // The converter's place need not be a call that began something (a gap): being marked it counts all the same.
  return { found: null, next, before: next ? Math.max(next.before, found ? 1 : 0) : 0 };
}
