/** Metric columns of tensor-mode graphs: their names when a graph is opened, their values when one is chosen for colouring. */
import { effect, signal } from '@preact/signals';
import { isMetric } from '../core/colouring';
import { addWorst, measuringNames } from '../core/metrics';
import type { Graph } from '../core/types';
import { BLOCK_NODES, type Blocks } from '../wire/blocks';
import { colouring, graph, loading } from './app';
import { blocks, metricValues } from './view';

export const metricNames = signal<readonly string[]>([]);

const AT_ONCE = 4;

async function loadNames(from: Blocks): Promise<void> {
  try {
    const first = await from.comparisons(0);
    if (blocks.value === from) metricNames.value = measuringNames(first.metricNames);
  } catch {
    // No comparisons in this file: there are no metrics to colour by.
  }
}

/** The worst value of every pair for one metric (see core/metrics), from all comparison blocks; null where it is not wanted any more. */
export async function worstOfPairs(from: Blocks, opened: Graph, name: string, stale: () => boolean): Promise<Float32Array | null> {
  const values = new Float32Array(opened.pairs.count).fill(Number.NaN);
  const waiting = Array.from({ length: Math.ceil(opened.pairs.count / BLOCK_NODES) }, (_, k) => k);
  const total = waiting.length;
  const work = async (): Promise<void> => {
    for (let block = waiting.shift(); block !== undefined && !stale(); block = waiting.shift()) {
      addWorst(await from.comparisons(block * BLOCK_NODES), name, values);
      if (!stale()) loading.value = { what: name, done: total - waiting.length, total };
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return stale() ? null : values;
  } finally {
    if (blocks.value === from) loading.value = null;
  }
}

async function loadValues(from: Blocks, opened: Graph, name: string): Promise<void> {
  try {
    const values = await worstOfPairs(from, opened, name, () => blocks.value !== from || colouring.value !== `metric:${name}`);
    if (values) metricValues.value = { name, values };
  } catch {
    // The details of the selection say what is wrong with the file; colours stay as "not measured".
  }
}

/** Call once. */
export function followMetrics(): void {
  effect(() => {
    const from = blocks.value;
    metricNames.value = [];
    metricValues.value = null;
    if (from && from.graph.summary.mode === 'tensor' && from.graph.pairs.count > 0) void loadNames(from);
  });
  effect(() => {
    const from = blocks.value;
    const mode = colouring.value;
    const opened = graph.value;
    if (!from || !opened || !isMetric(mode)) return;
    const name = mode.slice('metric:'.length);
    if (metricValues.peek()?.name !== name) void loadValues(from, opened, name);
  });
}
