/** Numbers a pair that are fetched when a query names them: the error of one statistic, a metric of the elements. */
import { PbfReader } from 'pbf';
import { computed, signal } from '@preact/signals';
import { asMeasured } from '../core/metrics';
import { METRIC_NAMES, STATISTIC_NUMBERS, type FetchedNumber, type MetricNumber, type StatisticNumber } from '../core/query';
import type { Graph } from '../core/types';
import { outputErrors } from '../wire/pair_errors';
import { readPairErrors } from '../wire/graph_pb.js';
import { graph, source } from './app';
import { worstOfPairs } from './metrics';
import { blocks } from './view';

type Columns = Partial<Record<FetchedNumber, Float32Array>>;

interface Fetched {
  readonly of: Graph;
  readonly columns: Columns;
  readonly absent: readonly FetchedNumber[]; // this graph has none: no pair fits
}

const SECTION = 'errors/outputs';
const MOST_AHEAD = 8 << 20; // bytes; about 1.3 million pairs

const fetched = signal<Fetched | null>(null);
const NOTHING: Omit<Fetched, 'of'> = { columns: {}, absent: [] };

const current = computed<Omit<Fetched, 'of'>>(() => (fetched.value?.of === graph.value && fetched.value ? fetched.value : NOTHING));
export const pairNumbers = computed<Columns>(() => current.value.columns);
export const absentNumbers = computed<readonly FetchedNumber[]>(() => current.value.absent);

let asked = new Set<FetchedNumber>();
let askedOf: Graph | null = null;
let waiting = false; // somebody searches by the error of a statistic: then size does not count, and what fails is said

function isStatistic(field: FetchedNumber): field is StatisticNumber {
  return (STATISTIC_NUMBERS as readonly string[]).includes(field);
}

function put(open: Graph, columns: Columns, absent: readonly FetchedNumber[] = []): void {
  if (graph.value !== open) return;
  const before = current.value;
  fetched.value = { of: open, columns: { ...before.columns, ...columns }, absent: [...before.absent, ...absent] };
}

function putAbsent(open: Graph, fields: readonly FetchedNumber[]): void {
  const nothing = new Float32Array(open.pairs.count).fill(Number.NaN);
  put(open, Object.fromEntries(fields.map((field) => [field, nothing])), fields);
}

/** Leaves the statistics to be fetched when somebody searches by one. */
function leaveStatistics(open: Graph): void {
  if (askedOf === open) for (const one of STATISTIC_NUMBERS) asked.delete(one);
}

async function fetchStatistics(open: Graph): Promise<void> {
  const from = source.value;
  if (!from) return;
  try {
    const { sections } = await from.index(open.key);
    const size = sections.find((entry) => entry.name === SECTION)?.stored_length;
    if (size === undefined) return putAbsent(open, STATISTIC_NUMBERS); // written by an older version
    if (size > MOST_AHEAD && !waiting) return leaveStatistics(open);
    const bytes = await from.section(open.key, SECTION, open.version);
    put(open, outputErrors(readPairErrors(new PbfReader(bytes)), open.verdicts.error));
  } catch {
    if (waiting) putAbsent(open, STATISTIC_NUMBERS);
    else leaveStatistics(open);
  }
}

async function fetchMetric(open: Graph, field: MetricNumber): Promise<void> {
  const from = blocks.value;
  const name = METRIC_NAMES[field];
  if (!from || from.graph !== open) return;
  try {
    const known = open.summary.mode === 'tensor' && (await from.comparisons(0)).metricNames.includes(name);
    const values = known ? await worstOfPairs(from, open, name, () => graph.value !== open) : null;
    if (values) put(open, { [field]: values.map((value) => asMeasured(name, value)) });
    else putAbsent(open, [field]);
  } catch {
    putAbsent(open, [field]);
  }
}

/** Fetches the errors of the statistics while nobody waits, so that a search for one needs no request; metrics are too many. */
export function fetchNumbersAhead(open: Graph): void {
  if (graph.value !== open || open.golden === null) return;
  beginWith(open);
  if (STATISTIC_NUMBERS.some((one) => asked.has(one))) return;
  for (const one of STATISTIC_NUMBERS) asked.add(one);
  void fetchStatistics(open);
}

function beginWith(open: Graph): void {
  if (askedOf === open) return;
  askedOf = open;
  asked = new Set();
  waiting = false;
}

/** Fetches what a search has passed over; each column once a graph. */
export function wantNumbers(fields: readonly FetchedNumber[]): void {
  const open = graph.value;
  if (!open) return;
  beginWith(open);
  for (const field of fields) {
    if (isStatistic(field)) waiting = true;
    if (asked.has(field)) continue;
    if (isStatistic(field)) {
      for (const one of STATISTIC_NUMBERS) asked.add(one); // they come together
      void fetchStatistics(open);
    } else {
      asked.add(field);
      void fetchMetric(open, field);
    }
  }
}
