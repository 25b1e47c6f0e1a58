/** The details table: rows of a pair (or of one node) with both sides' numbers and the verdict, from the detail blocks. */
import { formatFactor, formatStatistic } from './format';
import { pairNodes, sideOf, SIDES, type Graph, type NodeRef, type SideName } from './types';
import type { Comparisons, Tensors } from '../wire/blocks';
import type { Composition, ReasonText } from '../wire/graph_pb.js';

export const ROLE = { input: 0, kwarg: 1, parameter: 2, output: 3, gradient: 4 } as const;
export const LEAF = { tensor: 0, number: 1, bool: 2, text: 3, none: 4, other: 5 } as const;
export const STATISTICS = ['Max', 'Min', 'Mean', 'Norm'] as const;
const EXACT = 32;
const BOOLEAN = 16;

/** One leaf of one side, in words. Statistics are "" where the dump gives none. */
export interface LeafView {
  readonly node: number;
  readonly ordinal: number;
  readonly role: number;
  readonly kind: number;
  readonly name: string;
  readonly type: string;
  readonly dtype: string;
  readonly shape: string | null; // null: not given
  readonly texts: readonly [string, string, string, string];
  readonly numbers: readonly [number, number, number, number]; // NaN where missing
  readonly value: string | null;
  readonly checksum: string | null;
  readonly dataName: string | null;
  readonly requiresGrad: boolean | null;
  readonly relation: string; // "" or how `parts` make it up: concat, sum, stack
  readonly parts: readonly LeafView[];
}

export interface ReasonView {
  readonly code: number;
  readonly id: string;
  readonly severity: string;
  readonly en: string; // with its arguments filled in
  readonly zh: string;
}

export interface DetailRow {
  readonly key: string;
  readonly target: LeafView | null;
  readonly golden: LeafView | null;
  readonly status: number;
  readonly error: number; // NaN = not measured
  readonly statistic: number; // index into STATISTICS, 4 = tensor, 255 = none
  readonly tolerance: number;
  readonly reasons: readonly ReasonView[]; // what explains the row, then the worst first
  readonly metrics: readonly (readonly [string, number])[];
  readonly layout: string;
}

export interface DetailBlocks {
  readonly comparisons: Comparisons | null;
  readonly tensors: ReadonlyMap<string, Tensors>; // "side|block number"
}

function tensorsOf(blocks: DetailBlocks, side: SideName, node: number): Tensors | null {
  for (const [key, block] of blocks.tensors) {
    if (key.startsWith(`${side}|`) && node >= block.firstNode && node < block.firstNode + block.nodeCount) return block;
  }
  return null;
}

export function rowRange(block: Tensors, node: number): [number, number] {
  const at = node - block.firstNode;
  return [at > 0 ? block.rowEnd[at - 1] : 0, block.rowEnd[at]];
}

function optional(block: Tensors, index: number): string | null {
  return index === 0 ? null : block.strings[index - 1];
}

export function leafView(block: Tensors, node: number, ordinal: number): LeafView | null {
  const [first, behind] = rowRange(block, node);
  const row = first + ordinal;
  if (row >= behind) return null;
  const shape = block.strings[block.shape[row]] ?? '';
  const kind = block.kind[row];
  const numbers = [0, 1, 2, 3].map((k) => (block.present[row] & (1 << k) ? block.statistics[row * 4 + k] : Number.NaN)) as [number, number, number, number];
  return {
    node,
    ordinal,
    role: block.role[row],
    kind,
    name: block.strings[block.name[row]] ?? '',
    type: block.strings[block.type[row]] ?? '',
    dtype: block.strings[block.dtype[row]] ?? '',
    shape: kind !== LEAF.tensor || shape === '?' ? null : shape,
    texts: statisticTexts(block, row),
    numbers,
    value: optional(block, block.value[row]),
    checksum: optional(block, block.checksum[row]),
    dataName: optional(block, block.dataName[row]),
    requiresGrad: block.requiresGrad[row] === 0 ? null : block.requiresGrad[row] === 2,
    relation: '',
    parts: [],
  };
}

function statisticTexts(block: Tensors, row: number): [string, string, string, string] {
  const present = block.present[row];
  const exact = present & EXACT ? block.exact.get(row) : undefined;
  const text = (k: number): string => {
    if (exact && exact[k] !== '') return exact[k];
    if (!(present & (1 << k))) return '';
    const value = block.statistics[row * 4 + k];
    if (present & BOOLEAN && k < 2) return value ? 'True' : 'False';
    return formatStatistic(value);
  };
  return [text(0), text(1), text(2), text(3)];
}

/** A leaf that the comparison put together from several (fused layers). */
function composedView(composition: Composition, parts: LeafView[]): LeafView | null {
  if (parts.length === 0) return null;
  const given = [composition.max, composition.min, composition.mean, composition.norm];
  const numbers = given.map((value, k) => (composition.present & (1 << k) ? value : Number.NaN)) as [number, number, number, number];
  return {
    ...parts[0],
    dtype: composition.dtype || parts[0].dtype,
    shape: composition.shape,
    numbers,
    texts: numbers.map((value, k) => (composition.present & (1 << k) ? formatStatistic(value) : '')) as [string, string, string, string],
    value: null,
    checksum: null,
    dataName: null,
    relation: composition.relation,
    parts,
  };
}

/** How a person calls a leaf: "input.0", "weight", "output.0", "weight.grad". */
export function leafName(leaf: LeafView): string {
  switch (leaf.role) {
    case ROLE.input:
      return `input.${leaf.name}`;
    case ROLE.output:
      return `output.${leaf.name}`;
    case ROLE.gradient:
      return `${leaf.name}.grad`;
    default:
      return leaf.name;
  }
}

/** A note names a side in English; its Chinese sentence continues with 侧. */
const SIDES_ZH: Readonly<Record<string, string>> = { target: '待调试', golden: '标杆' };

const SEVERITY: Readonly<Record<string, number>> = { error: 3, not_comparable: 2, warning: 1, note: 0 };

/** Replaces {name} by the argument of that name; a missing one becomes "…". */
function fillReason(template: string, parameters: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => (Object.hasOwn(parameters, name) ? parameters[name] : '…'));
}

/** The statistic in which the two sides are furthest apart, for a row whose error is that of the elements. */
function furthest(target: LeafView | null, golden: LeafView | null): number {
  let worst = 3;
  let most = -1;
  for (let k = 0; k < 4; k++) {
    const a = target?.numbers[k] ?? Number.NaN;
    const b = golden?.numbers[k] ?? Number.NaN;
    const apart = Number.isFinite(a) && Number.isFinite(b) ? Math.abs(a - b) / Math.max(Math.abs(a), Math.abs(b), 1e-300) : Number.isFinite(a) === Number.isFinite(b) ? -1 : Infinity;
    if (apart > most) {
      most = apart;
      worst = k;
    }
  }
  return worst;
}

/** What the file leaves out of a note because the row says it already. */
function impliedArguments(id: string, row: { target: LeafView | null; golden: LeafView | null; error: number; tolerance: number; statistic: number }): Record<string, string> {
  const { target, golden } = row;
  const both = (read: (leaf: LeafView) => string): Record<string, string> => ({
    ...(target ? { target: read(target) } : {}),
    ...(golden ? { golden: read(golden) } : {}),
  });
  const numbers = { error: row.error.toExponential(1), tolerance: row.tolerance.toExponential(1) };
  switch (id) {
    case 'shape':
    case 'layout':
    case 'sharded':
      return both((leaf) => leaf.shape ?? '');
    case 'dtype':
    case 'precision':
      return both((leaf) => leaf.dtype);
    case 'requires_grad':
      return both((leaf) => (leaf.requiresGrad === null ? '' : leaf.requiresGrad ? 'True' : 'False'));
    case 'checksum':
      return both((leaf) => leaf.checksum ?? '');
    case 'value':
      return both((leaf) => leaf.value ?? leaf.texts[0]);
    case 'missing':
    case 'other_code':
      return { side: target ? 'target' : 'golden' };
    case 'scaled': {
      const factor = (target?.numbers[3] ?? Number.NaN) / (golden?.numbers[3] ?? Number.NaN);
      return Number.isFinite(factor) ? { factor: formatFactor(factor) } : {};
    }
    case 'mask_fill':
      return both((leaf) => leaf.texts[1]);
    case 'tensor':
      return numbers;
    default: {
      const statistic = row.statistic < 4 ? row.statistic : furthest(target, golden);
      return { ...both((leaf) => leaf.texts[statistic]), ...numbers, statistic: STATISTICS[statistic] };
    }
  }
}

function reasonsOf(mask: number, catalogue: readonly ReasonText[], notes: ReadonlyMap<number, Readonly<Record<string, string>>>, row: Parameters<typeof impliedArguments>[1]): ReasonView[] {
  const found: ReasonView[] = [];
  for (let code = 0; code < 32; code++) {
    if (!(mask & (1 << code))) continue;
    const text = catalogue.find((item) => item.code === code);
    const id = text?.id ?? String(code);
    const parameters = { ...impliedArguments(id, row), ...notes.get(code) };
    const chinese = 'side' in parameters ? { ...parameters, side: SIDES_ZH[parameters.side] ?? parameters.side } : parameters;
    found.push({
      code,
      id,
      severity: text?.severity ?? 'note',
      en: fillReason(text?.text?.en ?? `reason ${code}`, parameters),
      zh: fillReason(text?.text?.zh ?? `原因 ${code}`, chinese),
    });
  }
  // A common factor explains the numbers, so it is said before them.
  const weight = (reason: ReasonView): number => (reason.id === 'scaled' ? 9 : SEVERITY[reason.severity] ?? 0);
  return found.sort((a, b) => weight(b) - weight(a));
}

/** Rows of a pair in the order of the file: inputs, parameters, outputs. */
export function pairRows(graph: Graph, pair: number, blocks: DetailBlocks): DetailRow[] {
  const block = blocks.comparisons;
  if (!block) return [];
  const at = pair - block.firstPair;
  const rows: DetailRow[] = [];
  for (let row = at > 0 ? block.rowEnd[at - 1] : 0; row < block.rowEnd[at]; row++) {
    const view = (side: SideName, node: number, leaf: number): LeafView | null => {
      const composition = block.compositions.find((item) => item.row === row && item.golden === (side === 'golden'));
      const single = (n: number, ordinal: number): LeafView | null => {
        const tensors = tensorsOf(blocks, side, n);
        return tensors ? leafView(tensors, n, ordinal) : null;
      };
      if (!composition) return node < 0 ? null : single(node, leaf);
      const parts = composition.node.map((n, k) => single(n, composition.leaf[k])).filter((part) => part !== null);
      return composedView(composition, parts);
    };
    const base = {
      target: view('target', block.targetNode[row], block.targetLeaf[row]),
      golden: view('golden', block.goldenNode[row], block.goldenLeaf[row]),
      error: block.error[row],
      statistic: block.statistic[row],
      tolerance: block.tolerance[row],
    };
    const notes = new Map(block.notes.filter((note) => note.row === row).map((note) => [note.code, note.arguments]));
    rows.push({
      ...base,
      key: `${pair}.${row}`,
      status: block.status[row],
      reasons: reasonsOf(block.reasons[row], graph.summary.reasons, notes, base),
      metrics: block.metricNames.map((name, k) => [name, block.metrics[row * block.metricNames.length + k]] as const),
      layout: block.layout[row] > 0 ? block.layoutNames[block.layout[row] - 1] : '',
    });
  }
  return rows;
}

/** Rows of nodes that are compared with nothing: unmatched ones, builds, structure dumps. */
export function plainRows(nodes: readonly NodeRef[], blocks: DetailBlocks): DetailRow[] {
  const rows: DetailRow[] = [];
  for (const { side, node } of nodes) {
    const tensors = tensorsOf(blocks, side, node);
    if (!tensors) continue;
    const [first, behind] = rowRange(tensors, node);
    for (let ordinal = 0; ordinal < behind - first; ordinal++) {
      const leaf = leafView(tensors, node, ordinal);
      rows.push({
        key: `${side}.${node}.${ordinal}`,
        target: side === 'target' ? leaf : null,
        golden: side === 'golden' ? leaf : null,
        status: 0,
        error: Number.NaN,
        statistic: 255,
        tolerance: Number.NaN,
        reasons: [],
        metrics: [],
        layout: '',
      });
    }
  }
  return rows;
}

/** Nodes whose details a selection shows: all members of its pair, or the node alone. */
export function detailNodes(graph: Graph, ref: NodeRef): { pair: number; nodes: NodeRef[] } {
  const pair = sideOf(graph, ref.side)?.pair[ref.node] ?? -1;
  if (pair < 0) return { pair, nodes: [ref] };
  const nodes = SIDES.flatMap((side) => Array.from(pairNodes(graph.pairs, pair, side), (node) => ({ side, node })));
  return { pair, nodes };
}
