/** Graphs for tests: written with the generated encoders from short descriptions, so that decoding is tested along the way. */
import { PbfWriter } from 'pbf';
import type { Graph } from '../src/core/types';
import { decodeGraph } from '../src/wire/decode';
import * as pb from '../src/wire/graph_pb.js';
import type { GraphSections } from '../src/wire/opening';

export interface NodeSpec {
  readonly depth: number;
  readonly name: string; // full name; digits after the last "forward." or before ".forward" become the call number
  readonly kind?: number;
  readonly micro?: number;
}

export interface PairSpec {
  readonly target: readonly number[];
  readonly golden: readonly number[];
  readonly relation?: number;
  readonly status?: number;
  readonly cause?: number;
  readonly error?: number;
  readonly inputError?: number;
  readonly parameterError?: number;
}

function bytesOf(array: ArrayBufferView): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

export function encode<T>(write: (message: Partial<T>, writer: PbfWriter) => void, message: Partial<T>): Uint8Array {
  const writer = new PbfWriter();
  write(message, writer);
  return writer.finish().slice();
}

class Strings {
  readonly all: string[] = [];
  private readonly index = new Map<string, number>();

  of(text: string): number {
    let at = this.index.get(text);
    if (at === undefined) {
      at = this.all.length;
      this.all.push(text);
      this.index.set(text, at);
    }
    return at;
  }

  section(): Uint8Array {
    const parts = this.all.map((text) => new TextEncoder().encode(text));
    const end = new Uint32Array(parts.length);
    let at = 0;
    parts.forEach((part, i) => (end[i] = at += part.length));
    const utf8 = new Uint8Array(at);
    parts.forEach((part, i) => utf8.set(part, end[i] - part.length));
    return encode(pb.writeStrings, { utf8, end: bytesOf(end) });
  }
}

/** The parts of a name as the file keeps them. */
export function splitName(name: string): { head: string; call: number | null; tail: string } {
  const api = /^(.*\.)(\d+)(\.(?:forward|backward))$/.exec(name);
  if (api) return { head: api[1], call: Number(api[2]), tail: api[3] };
  const module = /^(.*\.(?:forward|backward|parameters_grad)\.)(\d+)$/.exec(name);
  if (module) return { head: module[1], call: Number(module[2]), tail: '' };
  return { head: name, call: null, tail: '' };
}

export function kindOf(name: string): number {
  if (/^(Module|Cell)\./.test(name)) return name.includes('.parameters_grad') ? 4 : 1;
  if (name.startsWith('Apis_Between_Modules')) return 3;
  return /\.\d+\.(forward|backward)$/.test(name) ? 2 : 1;
}

function topology(nodes: readonly NodeSpec[], strings: Strings): Uint8Array {
  const all: NodeSpec[] = [{ depth: 0, name: 'DefaultModel', kind: 0 }, ...nodes];
  const n = all.length;
  const columns = {
    depth: new Uint16Array(n),
    head: new Uint32Array(n),
    call_delta: new Int32Array(n),
    tail: new Uint32Array(n),
    kind: new Uint8Array(n),
    direction: new Uint8Array(n),
    micro_step: new Uint16Array(n),
    flags: new Uint8Array(n),
  };
  const last = new Map<number, number>();
  all.forEach((node, i) => {
    const { head, call, tail } = splitName(node.name);
    columns.depth[i] = node.depth;
    columns.head[i] = strings.of(head);
    columns.tail[i] = strings.of(tail);
    if (call === null) columns.call_delta[i] = -2147483648;
    else {
      columns.call_delta[i] = call - (last.get(columns.head[i]) ?? 0);
      last.set(columns.head[i], call);
    }
    columns.kind[i] = node.kind ?? kindOf(node.name);
    columns.direction[i] = /\bbackward\b|parameters_grad/.test(node.name) ? 2 : i === 0 ? 0 : 1;
    columns.micro_step[i] = node.micro ?? 0;
  });
  const bytes = Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, bytesOf(column)]));
  return encode(pb.writeTopology, { node_count: n, ...bytes });
}

function differences(values: readonly number[]): Uint8Array {
  return bytesOf(Int32Array.from(values, (value, i) => value - (i > 0 ? values[i - 1] : 0)));
}

export function sectionsOf(target: readonly NodeSpec[], golden: readonly NodeSpec[] | null, pairs: readonly PairSpec[] = [], summary: Partial<pb.Summary> = {}): GraphSections {
  const strings = new Strings();
  const targetTopology = topology(target, strings);
  const goldenTopology = golden ? topology(golden, strings) : undefined;
  const sorted = [...pairs].sort((a, b) => a.target[0] - b.target[0]);
  const floats = (read: (pair: PairSpec) => number | undefined): Uint8Array => bytesOf(Float32Array.from(sorted, (pair) => read(pair) ?? Number.NaN));
  return {
    summary: encode(pb.writeSummary, { micro_steps: 1, ...summary }),
    strings: strings.section(),
    target: targetTopology,
    golden: goldenTopology,
    pairs: encode(pb.writePairs, {
      pair_count: sorted.length,
      target_count: bytesOf(Uint32Array.from(sorted, (pair) => pair.target.length)),
      target_delta: differences(sorted.flatMap((pair) => pair.target)),
      golden_count: bytesOf(Uint32Array.from(sorted, (pair) => pair.golden.length)),
      golden_delta: differences(sorted.flatMap((pair) => pair.golden)),
      relation: Uint8Array.from(sorted, (pair) => pair.relation ?? 0),
      how: new Uint8Array(sorted.length),
      confidence: new Uint8Array(sorted.length).fill(255),
      evidence: bytesOf(new Uint32Array(sorted.length)),
      evidence_texts: ['same name'],
    }),
    verdicts: encode(pb.writeVerdicts, {
      pair_count: sorted.length,
      status: Uint8Array.from(sorted, (pair) => pair.status ?? 1),
      cause: Uint8Array.from(sorted, (pair) => pair.cause ?? 1),
      error: floats((pair) => pair.error),
      input_error: floats((pair) => pair.inputError),
      parameter_error: floats((pair) => pair.parameterError),
      reasons: bytesOf(new Uint32Array(sorted.length)),
    }),
  };
}

export function graphOf(target: readonly NodeSpec[], golden: readonly NodeSpec[] | null, pairs: readonly PairSpec[] = [], summary: Partial<pb.Summary> = {}): Graph {
  return decodeGraph({ run: 'test', step: 0, rank: 0 }, 'v', sectionsOf(target, golden, pairs, summary));
}

/** "  a" is inside the line above that is less indented; two spaces a level. */
export function outline(text: string): NodeSpec[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => ({ depth: 1 + (line.length - line.trimStart().length) / 2, name: line.trim() }));
}

/** A small generator of pseudo-random numbers in [0, 1), the same for the same seed. */
export function random(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 4294967296;
  };
}

/** A random tree of modules and calls with `count` nodes. */
export function randomTree(next: () => number, count: number): NodeSpec[] {
  const nodes: NodeSpec[] = [];
  let depth = 1;
  for (let i = 0; i < count; i++) {
    const module = next() < 0.4;
    nodes.push({ depth, name: module ? `Module.m${i}.Block.forward.0` : `Functional.op.${i}.forward` });
    if (module && next() < 0.8) depth++;
    else while (depth > 1 && next() < 0.3) depth--;
  }
  return nodes;
}

/** A transformer of `layers` layers with `calls` calls in each, its layers called `name`. */
export function transformer(layers: number, calls: number, name = 'layers'): NodeSpec[] {
  const nodes: NodeSpec[] = [{ depth: 1, name: 'Module.model.Model.forward.0' }];
  let call = 0;
  for (let layer = 0; layer < layers; layer++) {
    nodes.push({ depth: 2, name: `Module.model.${name}.${layer}.Layer.forward.0` });
    for (const part of ['attention', 'mlp']) {
      nodes.push({ depth: 3, name: `Module.model.${name}.${layer}.${part}.${part.toUpperCase()}.forward.0` });
      for (let k = 0; k < calls; k++) nodes.push({ depth: 4, name: `Functional.linear.${call++}.forward` });
    }
  }
  return nodes;
}

/** Every node paired with the node of the same number. */
export function identity(count: number, more: (node: number) => Partial<PairSpec> = () => ({})): PairSpec[] {
  return Array.from({ length: count }, (_, i) => ({ target: [i + 1], golden: [i + 1], ...more(i + 1) }));
}
