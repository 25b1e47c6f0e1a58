/** Words of the details table: shapes of both sides, verdicts, and the table as text for copying. */
import { causeClasses, CauseClass } from '../core/colouring';
import { LEAF, leafName, ROLE, type DetailRow, type LeafView } from '../core/details';
import { formatError, formatStatistic } from '../core/format';
import type { TextTable } from '../core/table_text';
import { Cause, pairNodes, sideOf, Status, type Graph, type SideName } from '../core/types';
import { local, t, type TextKey } from '../i18n';
import { names } from '../state/app';

const NAMED_ORIGINS = 2;

/** "[128,64] = 64+32+32" for a composed tensor, "[16,64]" for a plain one. */
function shapeWords(leaf: LeafView): string {
  if (leaf.kind !== LEAF.tensor) return '';
  const own = `[${leaf.shape ?? '?'}]`;
  if (leaf.parts.length < 2) return own;
  const shapes = leaf.parts.map((part) => (part.shape ?? '').split(','));
  const differing = shapes[0].map((_, axis) => axis).filter((axis) => new Set(shapes.map((shape) => shape[axis])).size > 1);
  const joined = differing.length === 1 ? differing[0] : shapes.every((shape) => shape.length === shapes[0].length) ? concatAxis(leaf, shapes) : -1;
  const parts = joined >= 0 ? shapes.map((shape) => shape[joined]).join('+') : leaf.parts.map((part) => `[${part.shape ?? '?'}]`).join(leaf.relation === 'sum' ? ' + ' : ', ');
  return `${own} = ${parts}`;
}

/** Parts of equal shape: the axis along which the whole is longer. */
function concatAxis(leaf: LeafView, shapes: string[][]): number {
  const whole = (leaf.shape ?? '').split(',');
  return whole.length === shapes[0].length ? whole.findIndex((size, axis) => size !== shapes[0][axis]) : -1;
}

function typeWords(leaf: LeafView): string {
  // MindSpore spells Float32 what the others call float32.
  const dtype = leaf.dtype.replace(/^(torch|mindspore|paddle)\./, '').toLowerCase();
  if (leaf.kind === LEAF.tensor) return dtype || leaf.type;
  return leaf.type.replace(/^(torch|mindspore|paddle)\./, '');
}

function valueWords(leaf: LeafView): string {
  return leaf.value ?? leaf.texts[0];
}

/** dtype and shape of both sides: once where they agree, both where they differ. */
export function dtypeShape(row: DetailRow): { text: string; differs: boolean } {
  const { target, golden } = row;
  const one = (leaf: LeafView): string => [typeWords(leaf), leaf.kind === LEAF.tensor ? shapeWords(leaf) : valueWords(leaf)].filter(Boolean).join(' ');
  if (!target || !golden) return { text: one((target ?? golden) as LeafView), differs: false };
  if (target.kind !== LEAF.tensor || golden.kind !== LEAF.tensor) {
    const a = one(target);
    const b = one(golden);
    return { text: a === b ? a : `${a} ~ ${b}`, differs: a !== b };
  }
  const types = [typeWords(target), typeWords(golden)];
  const shapes = [shapeWords(target), shapeWords(golden)];
  const type = types[0] === types[1] ? types[0] : `${types[0]} ~ ${types[1]}`;
  let shape = shapes[0];
  if (shapes[0] !== shapes[1]) {
    // A composed side begins with the other side's shape: "[128,64] = 64+32+32" says both.
    if (shapes[1].startsWith(`${shapes[0]} = `)) shape = shapes[1];
    else if (!shapes[0].startsWith(`${shapes[1]} = `)) shape = `${shapes[0]} ~ ${shapes[1]}`;
  }
  return { text: `${type} ${shape}`, differs: types[0] !== types[1] || target.shape !== golden.shape };
}

export function rowName(row: DetailRow): string {
  const a = row.target ? leafName(row.target) : '';
  const b = row.golden ? leafName(row.golden) : '';
  if (row.golden && row.golden.parts.length > 1) return a;
  if (row.target && row.target.parts.length > 1) return b;
  return a === b || b === '' ? a : a === '' ? b : `${a} ~ ${b}`;
}

/** Class whose sign stands before the verdict of a row; 0 = none. */
export function rowClass(open: Graph, pair: number, row: DetailRow): number {
  if (row.status === Status.notComparable) return CauseClass.incomparable;
  if (row.status === Status.warning) return CauseClass.warning;
  if (row.status !== Status.error) return 0;
  const role = (row.target ?? row.golden)?.role;
  const cause = pair >= 0 ? open.verdicts.cause[pair] : Cause.none;
  if (role === ROLE.parameter) return CauseClass.parameter;
  if (role === ROLE.input || role === ROLE.kwarg) return CauseClass.inherited;
  if (cause === Cause.parameter) return CauseClass.inherited;
  return pair >= 0 ? causeClasses(open.verdicts.status.subarray(pair, pair + 1), open.verdicts.cause.subarray(pair, pair + 1), true)[0] : CauseClass.error;
}

/** "follows from bias": what of the same pair explains a difference of this output; '' where nothing does. */
export function originWords(open: Graph, pair: number, rows: readonly DetailRow[], row: DetailRow): string {
  const roleOf = (one: DetailRow): number | undefined => (one.target ?? one.golden)?.role;
  const differs = (one: DetailRow): boolean => one.status === Status.error || one.status === Status.warning;
  if (pair < 0 || roleOf(row) !== ROLE.output || !differs(row)) return '';
  const cause = open.verdicts.cause[pair];
  const roles = cause === Cause.parameter ? [ROLE.parameter] : cause === Cause.inherited ? [ROLE.input, ROLE.kwarg] : [];
  const origins = rows.filter((one) => differs(one) && roles.some((role) => role === roleOf(one))).map(rowName);
  if (origins.length === 0) return '';
  const what = origins.slice(0, NAMED_ORIGINS).join(t('list.comma')) + (origins.length > NAMED_ORIGINS ? ' …' : '');
  return t('details.followsFrom', { what });
}

export function verdictWords(row: DetailRow, origin = ''): string {
  const words = row.reasons.map((reason) => local(reason));
  if (origin) words.unshift(origin);
  if (words.length === 0) {
    if (row.status === Status.none) return row.target && row.golden ? t('details.notCompared') : '';
    if (row.status === Status.pass) words.push(row.error > 0 ? t('details.within', { tolerance: formatError(row.tolerance) }) : t('details.equal'));
    else words.push(t(`status.${['none', 'pass', 'warning', 'error', 'not_comparable'][row.status]}` as TextKey));
  }
  if (row.layout) words.push(t('details.layout', { layout: row.layout }));
  return words.join(t('list.semicolon'));
}

/** "linear_qkv ↔ q_proj + k_proj + v_proj". */
export function pairTitle(open: Graph, pair: number, ref: { side: SideName; node: number }): string {
  const known = names.value;
  const label = (which: SideName, node: number): string => {
    const side = sideOf(open, which);
    return side && known ? known.label(side, node) : '';
  };
  if (pair < 0) return label(ref.side, ref.node);
  const of = (which: SideName): string => Array.from(pairNodes(open.pairs, pair, which), (node) => label(which, node)).join(' + ');
  const [a, b] = [of('target'), of('golden')];
  return a === b ? a : `${a} ↔ ${b}`;
}

export function fullNames(open: Graph, nodes: readonly { side: SideName; node: number }[]): string[] {
  return nodes.map(({ side, node }) => {
    const columns = sideOf(open, side);
    return columns && names.value ? names.value.full(columns, node) : '';
  });
}

export function metricText(value: number): string {
  return Number.isNaN(value) ? '' : formatStatistic(value);
}

/** Both sides in full, one line a side, for copying. */
export function detailTable(open: Graph, pair: number, title: string, rows: readonly DetailRow[]): TextTable {
  const metrics = rows[0]?.metrics.map(([name]) => name) ?? [];
  const head = [t('details.tensor'), '', 'dtype', 'shape', 'Max', 'Min', 'Mean', 'Norm', ...metrics, t('details.error'), t('details.verdict')];
  const lines: string[][] = [];
  for (const row of rows) {
    const sides = (['target', 'golden'] as const).filter((which) => row[which] !== null);
    sides.forEach((which, k) => {
      const leaf = row[which] as LeafView;
      const values = leaf.kind === LEAF.tensor ? leaf.texts : [valueWords(leaf), '', '', ''];
      const verdict = k === 0 ? [...row.metrics.map(([, value]) => metricText(value)), formatError(row.error), verdictWords(row, originWords(open, pair, rows, row))] : [...metrics.map(() => ''), '', ''];
      lines.push([leafName(leaf), open.golden ? t(`side.${which}`) : '', typeWords(leaf), shapeWords(leaf), ...values.map((text) => text.replace('−', '-')), ...verdict]);
    });
  }
  return { title, head, rows: lines };
}
