/** The search: index of the open graph, result of the query as it is typed, and the data types once somebody asks for them. */
import { PbfReader } from 'pbf';
import { computed, effect, signal } from '@preact/signals';
import { textTable } from '../core/name_text';
import { parseQuery, type Query } from '../core/query';
import { searching, type Order, type SearchResult } from '../core/search';
import type { SearchIndex } from '../core/search_terms';
import type { Graph, SideName } from '../core/types';
import { readNodeDtypes } from '../wire/graph_pb.js';
import { pairNumbers, wantNumbers } from './pair_numbers';
import { hiddenPairs } from './triage';
import { expectedGolden, expectedTarget, graph, hideExpected, hits, microStep, panel, query, source } from './app';

export const order = signal<Order>('call');

type Dtypes = SearchIndex['dtypes'];
const NO_DTYPES: Dtypes = { target: null, golden: null };

/** Data types of the open graph's nodes; asked for once a query names one. */
export const dtypes = signal<{ readonly version: string; readonly columns: Dtypes } | null>(null);
/** Set where the graph file has no data types: written by an older version. */
export const dtypesMissing = signal(false);

/** Strings of the open graph; another matching of the same graph keeps them. */
const strings = computed(() => graph.value?.strings ?? null);
/** The same as one text to search in; made once a graph. */
export const text = computed(() => (strings.value ? textTable(strings.value.utf8, strings.value.end) : null));

/** What a search looks at. */
export const index = computed<SearchIndex | null>(() => {
  const open = graph.value;
  if (!open || !text.value) return null;
  return {
    graph: open,
    text: text.value,
    dtypes: dtypes.value?.version === open.version ? dtypes.value.columns : NO_DTYPES,
    numbers: pairNumbers.value,
    expected: { target: expectedTarget.value, golden: expectedGolden.value },
  };
});

export const parsed = computed<Query>(() => parseQuery(query.value));

/** The last search that came to its end; until the next one does, its hits stay. */
const finished = signal<{ readonly of: Graph; readonly found: SearchResult } | null>(null);

/** Only worked out while the panel is open. */
export const result = computed<SearchResult | null>(() => (panel.value === 'search' && finished.value?.of === graph.value ? (finished.value?.found ?? null) : null));

const SLICE = 24; // milliseconds of searching between two moments for everything else
let timer: ReturnType<typeof setTimeout> | undefined;

/** Goes on with a search until it has its result. Nearly all have it within the first slice, hence in the frame of the key. */
function go(steps: Generator<void, SearchResult>, finish: (found: SearchResult) => void): void {
  const until = performance.now() + SLICE;
  do {
    const step = steps.next();
    if (step.done) return finish(step.value);
  } while (performance.now() < until);
  timer = setTimeout(() => go(steps, finish), 0);
}

/** Hits that marks do not explain; whoever asks for marked ones gets them. */
function without(found: SearchResult, at: SearchIndex): SearchResult {
  if (parsed.value.terms.some((term) => term.kind === 'is' && term.values.includes('expected'))) return found;
  const { pair } = at.graph.target;
  const hidden = hiddenPairs.value;
  const rows = found.rows.filter((row) => (row < 0 ? !at.expected.golden.has(-1 - row) : !at.expected.target.has(row) && !(pair[row] >= 0 && hidden?.[pair[row]])));
  return { ...found, rows };
}

async function fetchDtypes(open: Graph): Promise<void> {
  const from = source.value;
  if (!from) return;
  const column = async (side: SideName): Promise<Dtypes[SideName]> => {
    if (side === 'golden' && !open.golden) return null;
    const message = readNodeDtypes(new PbfReader(await from.section(open.key, `dtypes/${side}`, open.version)));
    return { column: message.dtype ?? new Uint8Array(0), names: message.names };
  };
  try {
    const [target, golden] = await Promise.all([column('target'), column('golden')]);
    dtypes.value = { version: open.version, columns: { target, golden } };
  } catch {
    dtypesMissing.value = true;
  }
}

/** Call once a page: a query is searched for as it is typed, data types are fetched when it names one, and `n` and `p` go through the hits while the panel is open. */
export function followSearch(): void {
  effect(() => {
    const at = index.value;
    clearTimeout(timer); // what is being searched for is not wanted any more
    if (!at || panel.value !== 'search') return;
    const hide = hideExpected.value;
    go(searching(at, parsed.value, order.value, microStep.value), (found) => (finished.value = { of: at.graph, found: hide ? without(found, at) : found }));
  });
  let asked = '';
  effect(() => {
    const open = graph.value;
    if (!open || !result.value?.needsDtypes || asked === open.version) return;
    asked = open.version;
    dtypesMissing.value = false;
    void fetchDtypes(open);
  });
  effect(() => {
    if (result.value && result.value.needs.length > 0) wantNumbers(result.value.needs);
  });
  effect(() => {
    hits.value = panel.value === 'search' ? (result.value?.rows ?? null) : null;
  });
}

/** Data types to choose from; asks for them. */
export function wantDtypes(): void {
  const open = graph.value;
  if (open && dtypes.value?.version !== open.version && !dtypesMissing.value) void fetchDtypes(open);
}
