/** The layer strip: a stack of repeated layers folded into a matrix sub-module × layer, one class and one error a cell. */
import type { Colouring } from './colouring';
import { columnOf } from './colouring';
import { firstInRange } from './counts';
import type { Names } from './names';
import { Direction, NodeKind, type Graph, type Side } from './types';

export interface LayerStack {
  readonly label: string; // "decoder.layers"
  readonly direction: number;
  readonly layers: readonly number[]; // layer indices, ascending
  readonly members: readonly (readonly number[])[]; // nodes of each layer: one a call
}

export interface Matrix {
  readonly rows: readonly string[]; // sub-modules in call order
  readonly columns: readonly number[]; // layer indices
  readonly cls: Uint8Array; // [rows, columns]
  readonly error: Float32Array; // NaN = not measured
  readonly node: Int32Array; // the worst node of the cell, -1 = this layer has no such sub-module
}

const ZERO = 48;
const NINE = 57;
const INDEXED = /^(.*)\.(\d{1,9})$/;

/** Stacks of two and more repeated modules that lie in no other stack, the largest first; forward before backward. */
export function layerStacks(side: Side, names: Names): LayerStack[] {
  interface Growing {
    readonly label: string;
    readonly direction: number;
    readonly byIndex: Map<number, number[]>;
    size: number;
  }
  const found = new Map<string, Growing>();
  // All nodes of one head string belong to the same stack and layer.
  const byHead = new Map<number, { stack: Growing; members: number[] } | null>();
  const place = (node: number): { stack: Growing; members: number[] } | null => {
    const parts = names.of(side, node);
    const last = parts.path.charCodeAt(parts.path.length - 1);
    const match = last >= ZERO && last <= NINE ? INDEXED.exec(parts.path) : null; // hardly any ends in a number
    const base = match ? withoutRoot(match[1]) : '';
    // "layers.3.mlp.experts": a repeat inside a repeat is part of its layer's cells. A leading number is a model chunk.
    if (!match || base === '' || /\.\d+(\.|$)/.test(base)) return null;
    const direction = side.direction[node];
    const key = `${base} ${parts.type} ${direction}`;
    let stack = found.get(key);
    if (!stack) found.set(key, (stack = { label: base, direction, byIndex: new Map(), size: 0 }));
    const index = Number(match[2]);
    let members = stack.byIndex.get(index);
    if (!members) stack.byIndex.set(index, (members = []));
    return { stack, members };
  };
  for (let node = 1; node < side.count; node++) {
    if (side.kind[node] !== NodeKind.module) continue;
    const head = side.head[node];
    let placed = byHead.get(head);
    if (placed === undefined) byHead.set(head, (placed = place(node)));
    if (!placed) continue;
    placed.members.push(node);
    placed.stack.size += side.end[node] - node;
  }
  return [...found.values()]
    .filter((stack) => stack.byIndex.size >= 2)
    .sort((a, b) => order(a.direction) - order(b.direction) || b.size - a.size)
    .map((stack) => {
      const layers = [...stack.byIndex.keys()].sort((a, b) => a - b);
      return { label: stack.label, direction: stack.direction, layers, members: layers.map((index) => stack.byIndex.get(index) ?? []) };
    });
}

function order(direction: number): number {
  return direction === Direction.backward ? 1 : 0;
}

function withoutRoot(path: string): string {
  return path.replace(/^(Module|Cell)\./, '');
}

/**
 * Paths of the sub-modules of a member below it, in call order: the finest level that has at most `most` of them.
 * In a comparison, sub-modules without counterpart would be empty lines: they are left out.
 */
function subModules(side: Side, names: Names, member: number, most: number, compared: boolean): string[] {
  const prefix = `${names.of(side, member).path}.`;
  const all: { path: string; level: number; leaf: boolean }[] = [];
  for (let node = member + 1; node < side.end[member]; node++) {
    if (side.kind[node] !== NodeKind.module || (compared && side.pair[node] < 0)) continue;
    const { path } = names.of(side, node);
    if (!path.startsWith(prefix)) continue;
    const relative = path.slice(prefix.length);
    if (all.some((item) => item.path === relative)) continue;
    all.push({ path: relative, level: relative.split('.').length, leaf: true });
  }
  for (const item of all) item.leaf = !all.some((other) => other.path.startsWith(`${item.path}.`));
  const deepest = all.reduce((level, item) => Math.max(level, item.level), 1);
  for (let level = deepest; level >= 1; level--) {
    const chosen = all.filter((item) => item.level === level || (item.level < level && item.leaf));
    if (chosen.length <= most) return chosen.map((item) => item.path);
  }
  return [];
}

/** `most` rows at most; 0 gives one row for the whole layer. */
export function layerMatrix(graph: Graph, names: Names, colouring: Colouring, stack: LayerStack, most: number, microStep: number): Matrix {
  const side = graph.target;
  const column = columnOf(colouring, 'target');
  const members = stack.members.map((nodes) => nodes.filter((node) => microStep < 0 || side.microStep[node] === microStep));
  const example = members.find((nodes) => nodes.length > 0)?.[0] ?? -1;
  const paths = most > 0 && example > 0 ? subModules(side, names, example, most, graph.golden !== null) : [];
  const rows = paths.length > 0 ? paths : [''];
  const rowOf = new Map(rows.map((path, row) => [path, row]));
  const size = rows.length * stack.layers.length;
  const cls = new Uint8Array(size);
  const error = new Float32Array(size).fill(Number.NaN);
  const worst = new Int32Array(size).fill(-1);
  const { classes } = colouring;

  const take = (cell: number, node: number): void => {
    const pair = side.pair[node];
    const value = pair >= 0 ? graph.verdicts.error[pair] : Number.NaN;
    let own = column ? column.classes[node] : 0;
    let at = node;
    // A cause inside counts for the cell; it is the place to jump to.
    for (let c = classes.length - 1; column && c > own; c--) {
      if (!classes[c].strong) continue;
      const inside = firstInRange(column, node, side.end[node], 1 << c);
      if (inside >= 0) {
        own = c;
        at = inside;
        break;
      }
    }
    if (worst[cell] < 0 || own > cls[cell]) {
      cls[cell] = own;
      worst[cell] = at;
    }
    if (Number.isNaN(error[cell]) || value > error[cell]) error[cell] = value;
  };

  members.forEach((nodes, layer) => {
    for (const member of nodes) {
      if (rows[0] === '') {
        take(layer, member);
        continue;
      }
      const prefix = names.of(side, member).path.length + 1;
      for (let node = member + 1; node < side.end[member]; node++) {
        if (side.kind[node] !== NodeKind.module) continue;
        const row = rowOf.get(names.of(side, node).path.slice(prefix));
        if (row !== undefined) take(row * stack.layers.length + layer, node);
      }
    }
  });
  return { rows, columns: stack.layers, cls, error, node: worst };
}

/** 0..1: how strongly a cell is tinted, by decades below the largest error of the matrix. */
export function intensity(error: number, largest: number): number {
  if (Number.isNaN(error) || error <= 0 || largest <= 0) return 1;
  if (!Number.isFinite(error) || !Number.isFinite(largest)) return 1;
  return Math.min(1, Math.max(0.4, 1 + Math.log10(error / largest) / 4));
}
