/** The findings list and the way from one finding to the next. */
import { computed, signal } from '@preact/signals';
import { findingClasses, findings, neighbour, refOf, rowOfRef, type Findings } from '../core/findings';
import { select } from './actions';
import { hiddenPairs } from './triage';
import { expectedGolden, expectedTarget, findingFilter, graph, hideExpected, hits, microStep, selection } from './app';

export const findingsByError = signal(false);
export const onlyForward = signal(false);
export const onlyBackward = signal(false);

const classOfPair = computed<Uint8Array>(() => (graph.value ? findingClasses(graph.value) : new Uint8Array(0)));

function listed(byError: boolean): Findings | null {
  const open = graph.value;
  if (!open) return null;
  return findings(open, classOfPair.value, {
    groups: findingFilter.value,
    forward: onlyForward.value,
    backward: onlyBackward.value,
    microStep: microStep.value,
    byError,
    ...(hideExpected.value ? { hiddenPairs: hiddenPairs.value, hidden: expectedTarget.value, hiddenGolden: expectedGolden.value } : {}),
  });
}

export const findingList = computed<Findings | null>(() => listed(findingsByError.value));
const inCallOrder = computed<Findings | null>(() => (findingsByError.value ? listed(false) : findingList.value));

export function goToFinding(direction: 1 | -1): void {
  const open = graph.value;
  const rows = hits.value ?? inCallOrder.value?.rows;
  if (!open || !rows || rows.length === 0) return;
  const current = selection.value ? rowOfRef(open, selection.value) : 0;
  const at = neighbour(rows, current, direction);
  if (at >= 0) select(refOf(rows[at]), { reveal: true, centre: true });
}
