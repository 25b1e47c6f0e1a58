/** Graphs for tests from lists of lines: depth, full name, and what is special about a node. */
import { StringTable } from '../src/core/strings';
import { deriveTree } from '../src/core/tree';
import { Direction, NO_CALL, NodeKind, pairNodes, type Graph, type Side } from '../src/core/types';

export interface NodeLine {
  readonly depth: number;
  readonly name: string;
  readonly kind?: number;
  readonly microStep?: number;
}

export interface PairLine {
  readonly target: readonly string[];
  readonly golden: readonly string[];
  readonly status?: number;
  readonly cause?: number;
  readonly error?: number;
  readonly inputError?: number;
  readonly parameterError?: number;
  readonly how?: number;
  readonly reasons?: number;
}

/** As converter/graphfile/topology.py takes names apart. */
function split(name: string): [string, number, string] {
  const found = /^(.*\.)(\d+)(\..*)?$/.exec(name);
  const direct = /^(.*\.(?:forward|backward)\.)(\d+)$/.exec(name) ?? /^([^.]+\.[^.]+\.)(\d+)(\..*)$/.exec(name);
  const use = direct ?? found;
  return use ? [use[1], Number(use[2]), use[3] ?? ''] : [name, NO_CALL, ''];
}

function side(lines: readonly NodeLine[], strings: Map<string, number>): Side {
  const id = (text: string): number => {
    if (!strings.has(text)) strings.set(text, strings.size);
    return strings.get(text) as number;
  };
  const all: NodeLine[] = [{ depth: 0, name: '', kind: NodeKind.root }, ...lines];
  const parts = all.map((line) => split(line.name));
  const depth = Uint16Array.from(all, (line) => line.depth);
  return {
    count: all.length,
    depth,
    ...deriveTree(depth),
    head: Uint32Array.from(parts, (part) => id(part[0])),
    call: Int32Array.from(parts, (part) => part[1]),
    tail: Uint32Array.from(parts, (part) => id(part[2])),
    kind: Uint8Array.from(all, (line) => line.kind ?? (/^(Module|Cell)\./.test(line.name) ? NodeKind.module : NodeKind.api)),
    direction: Uint8Array.from(all, (line) => (/\.forward(\.|$)/.test(line.name) ? Direction.forward : /\.backward(\.|$)/.test(line.name) ? Direction.backward : Direction.none)),
    microStep: Uint16Array.from(all, (line) => line.microStep ?? 0),
    flags: new Uint8Array(all.length),
    overflow: null,
    pair: new Int32Array(all.length).fill(-1),
  };
}

export function smallGraph(target: readonly NodeLine[], golden: readonly NodeLine[] | null, pairs: readonly PairLine[], summary: object = {}): Graph {
  const strings = new Map<string, number>();
  const a = side(target, strings);
  const b = golden ? side(golden, strings) : null;
  const names = [...strings.keys()];
  const at = (lines: readonly NodeLine[], name: string): number => {
    const found = lines.findIndex((line) => line.name === name);
    if (found < 0) throw new Error(`no node ${name}`);
    return found + 1;
  };
  const rows = pairs.map((pair) => ({ ...pair, a: pair.target.map((name) => at(target, name)), b: pair.golden.map((name) => at(golden ?? [], name)) })).sort((x, y) => x.a[0] - y.a[0]);
  const ends = (lists: readonly number[][]): Uint32Array => {
    let sum = 0;
    return Uint32Array.from(lists, (list) => (sum += list.length));
  };
  const floats = (pick: (row: PairLine) => number | undefined): Float32Array => Float32Array.from(rows, (row) => pick(row) ?? Number.NaN);
  const graph: Graph = {
    key: { run: 'test', step: 0, rank: 0 },
    version: '1',
    summary: { reasons: [], proposals: [], micro_steps: 1, ...summary } as unknown as Graph['summary'],
    strings: StringTable.of(names),
    target: a,
    golden: b,
    pairs: {
      count: rows.length,
      targetEnd: ends(rows.map((row) => row.a)),
      targetNodes: Uint32Array.from(rows.flatMap((row) => row.a)),
      goldenEnd: ends(rows.map((row) => row.b)),
      goldenNodes: Uint32Array.from(rows.flatMap((row) => row.b)),
      relation: Uint8Array.from(rows, (row) => (row.a.length + row.b.length > 2 ? 1 : 0)),
      how: Uint8Array.from(rows, (row) => row.how ?? 0),
      confidence: new Uint8Array(rows.length).fill(255),
      evidence: new Uint32Array(rows.length),
      evidenceTexts: ['same name'],
    },
    verdicts: {
      status: Uint8Array.from(rows, (row) => row.status ?? 1),
      cause: Uint8Array.from(rows, (row) => row.cause ?? 1),
      error: floats((row) => row.error),
      inputError: floats((row) => row.inputError),
      parameterError: floats((row) => row.parameterError),
      reasons: Uint32Array.from(rows, (row) => row.reasons ?? 0),
    },
  };
  for (let pair = 0; pair < rows.length; pair++) {
    for (const node of pairNodes(graph.pairs, pair, 'target')) a.pair[node] = pair;
    if (b) for (const node of pairNodes(graph.pairs, pair, 'golden')) b.pair[node] = pair;
  }
  return graph;
}

