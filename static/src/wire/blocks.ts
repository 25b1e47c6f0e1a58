/** Detail blocks (tensors, comparisons, stacks), fetched when a node is looked at and kept for the last few dozen. */
import { PbfReader } from 'pbf';
import type { Graph, SideName } from '../core/types';
import { column } from './columns';
import {
  readComparisonBlock,
  readStacks,
  readTensorBlock,
  type ComparisonBlock,
  type Composition,
  type Note,
  type Stacks,
  type TensorBlock,
} from './graph_pb.js';
import type { Source } from './source';

export const BLOCK_NODES = 1024; // nodes of a tensor block, pairs of a comparison block
const KEPT = 48;

export interface Tensors {
  readonly firstNode: number;
  readonly nodeCount: number;
  readonly rowEnd: Uint32Array;
  readonly stack: Uint32Array; // index into stacks plus 1
  readonly role: Uint8Array;
  readonly kind: Uint8Array;
  readonly name: Uint32Array;
  readonly type: Uint32Array;
  readonly dtype: Uint32Array;
  readonly shape: Uint32Array;
  readonly requiresGrad: Uint8Array;
  readonly present: Uint8Array;
  readonly statistics: Float32Array | Float64Array; // [rows, 4] Max, Min, Mean, Norm
  readonly value: Uint32Array; // plus 1, 0 = none; so are the next two
  readonly checksum: Uint32Array;
  readonly dataName: Uint32Array;
  readonly strings: readonly string[];
  readonly exact: ReadonlyMap<number, readonly [string, string, string, string]>;
}

export interface Comparisons {
  readonly firstPair: number;
  readonly pairCount: number;
  readonly rowEnd: Uint32Array;
  readonly targetNode: Int32Array;
  readonly targetLeaf: Uint32Array;
  readonly goldenNode: Int32Array;
  readonly goldenLeaf: Uint32Array;
  readonly status: Uint8Array;
  readonly reasons: Uint32Array;
  readonly error: Float32Array;
  readonly statistic: Uint8Array;
  readonly tolerance: Float32Array;
  readonly compositions: readonly Composition[];
  readonly notes: readonly Note[];
  readonly metricNames: readonly string[];
  readonly metrics: Float64Array;
  readonly layout: Uint8Array; // index into layoutNames plus 1; 0 = measured as it lay
  readonly layoutNames: readonly string[];
}

function decodeTensors(bytes: Uint8Array): Tensors {
  const block: TensorBlock = readTensorBlock(new PbfReader(bytes));
  const rows = block.row_count;
  const numbers = (field: Uint8Array | undefined, name: string): Uint32Array => column(field, Uint32Array, rows, `tensors.${name}`);
  return {
    firstNode: block.first_node,
    nodeCount: block.node_count,
    rowEnd: column(block.row_end, Uint32Array, block.node_count, 'tensors.row_end'),
    stack: column(block.stack, Uint32Array, block.node_count, 'tensors.stack'),
    role: column(block.role, Uint8Array, rows, 'tensors.role'),
    kind: column(block.kind, Uint8Array, rows, 'tensors.kind'),
    name: numbers(block.name, 'name'),
    type: numbers(block.type, 'type'),
    dtype: numbers(block.dtype, 'dtype'),
    shape: numbers(block.shape, 'shape'),
    requiresGrad: column(block.requires_grad, Uint8Array, rows, 'tensors.requires_grad'),
    present: column(block.present, Uint8Array, rows, 'tensors.present'),
    statistics:
      block.statistics_width === 8
        ? column(block.statistics, Float64Array, rows * 4, 'tensors.statistics')
        : column(block.statistics, Float32Array, rows * 4, 'tensors.statistics'),
    value: numbers(block.value, 'value'),
    checksum: numbers(block.checksum, 'checksum'),
    dataName: numbers(block.data_name, 'data_name'),
    strings: block.strings,
    exact: new Map(block.exact.map((item) => [item.row, [item.max, item.min, item.mean, item.norm] as const])),
  };
}

function decodeComparisons(bytes: Uint8Array): Comparisons {
  const block: ComparisonBlock = readComparisonBlock(new PbfReader(bytes));
  const rows = block.row_count;
  return {
    firstPair: block.first_pair,
    pairCount: block.pair_count,
    rowEnd: column(block.row_end, Uint32Array, block.pair_count, 'comparisons.row_end'),
    targetNode: column(block.target_node, Int32Array, rows, 'comparisons.target_node'),
    targetLeaf: column(block.target_leaf, Uint32Array, rows, 'comparisons.target_leaf'),
    goldenNode: column(block.golden_node, Int32Array, rows, 'comparisons.golden_node'),
    goldenLeaf: column(block.golden_leaf, Uint32Array, rows, 'comparisons.golden_leaf'),
    status: column(block.status, Uint8Array, rows, 'comparisons.status'),
    reasons: column(block.reasons, Uint32Array, rows, 'comparisons.reasons'),
    error: column(block.error, Float32Array, rows, 'comparisons.error'),
    statistic: column(block.statistic, Uint8Array, rows, 'comparisons.statistic'),
    tolerance: column(block.tolerance, Float32Array, rows, 'comparisons.tolerance'),
    compositions: block.compositions,
    notes: block.notes,
    metricNames: block.metric_names,
    metrics: column(block.metrics, Float64Array, rows * block.metric_names.length, 'comparisons.metrics'),
    layout: column(block.layout, Uint8Array, rows, 'comparisons.layout'),
    layoutNames: block.layout_names,
  };
}

/** Blocks of one graph file. Requests for the same block share one answer; the least recently used are dropped. */
export class Blocks {
  private readonly kept = new Map<string, Promise<unknown>>();

  constructor(
    private readonly source: Source,
    readonly graph: Graph,
  ) {}

  tensors(side: SideName, node: number): Promise<Tensors> {
    return this.get(`tensors/${side}/${Math.floor(node / BLOCK_NODES)}`, decodeTensors);
  }

  comparisons(pair: number): Promise<Comparisons> {
    return this.get(`comparisons/${Math.floor(pair / BLOCK_NODES)}`, decodeComparisons);
  }

  stacks(side: SideName): Promise<Stacks> {
    return this.get(`stacks/${side}`, (bytes) => readStacks(new PbfReader(bytes)));
  }

  private get<T>(name: string, decode: (bytes: Uint8Array) => T): Promise<T> {
    const known = this.kept.get(name) as Promise<T> | undefined;
    const answer = known ?? this.source.section(this.graph.key, name, this.graph.version).then(decode);
    this.kept.delete(name);
    this.kept.set(name, answer);
    // A failed request is forgotten, so that looking again asks again.
    if (!known) answer.catch(() => this.kept.delete(name));
    while (this.kept.size > KEPT) this.kept.delete(this.kept.keys().next().value as string);
    return answer;
  }
}
