/** Sections of a graph file → Graph. What proto/graph.proto says about a column is turned here into what core works with. */
import { PbfReader } from 'pbf';
import { StringTable } from '../core/strings';
import { deriveTree } from '../core/tree';
import { NO_CALL, type Graph, type GraphKey, type Pairs, type Side, type Verdicts } from '../core/types';
import { column, damaged } from './columns';
import { readPairs, readStrings, readSummary, readTopology, readVerdicts, type Topology } from './graph_pb.js';
import type { GraphSections } from './opening';
import { saidOf } from './said';
import { SourceError } from './source';

const NO_CALL_STORED = -2147483648;

function decodeStrings(bytes: Uint8Array): StringTable {
  const message = readStrings(new PbfReader(bytes));
  const count = (message.end?.length ?? 0) / 4;
  return new StringTable(message.utf8 ?? new Uint8Array(0), column(message.end, Uint32Array, count, 'strings.end'));
}

/** Call numbers are stored as differences to the previous call of the same head, so that they compress. */
function restoreCalls(delta: Int32Array, head: Uint32Array, stringCount: number): Int32Array {
  const last = new Int32Array(stringCount);
  const call = new Int32Array(delta.length);
  for (let i = 0; i < delta.length; i++) {
    if (delta[i] === NO_CALL_STORED) call[i] = NO_CALL;
    else {
      last[head[i]] += delta[i];
      call[i] = last[head[i]];
    }
  }
  return call;
}

function decodeSide(bytes: Uint8Array, stringCount: number): Side {
  const message: Topology = readTopology(new PbfReader(bytes));
  const count = message.node_count;
  const depth = column(message.depth, Uint16Array, count, 'topology.depth');
  const head = column(message.head, Uint32Array, count, 'topology.head');
  return {
    count,
    depth,
    ...deriveTree(depth),
    head,
    call: restoreCalls(column(message.call_delta, Int32Array, count, 'topology.call_delta'), head, stringCount),
    tail: column(message.tail, Uint32Array, count, 'topology.tail'),
    kind: column(message.kind, Uint8Array, count, 'topology.kind'),
    direction: column(message.direction, Uint8Array, count, 'topology.direction'),
    microStep: column(message.micro_step, Uint16Array, count, 'topology.micro_step'),
    flags: column(message.flags, Uint8Array, count, 'topology.flags'),
    overflow: message.overflow && message.overflow.length > 0 ? column(message.overflow, Uint8Array, count, 'topology.overflow') : null,
    pair: new Int32Array(count).fill(-1),
  };
}

/** Pairs are stored as counts and differences, so that they compress; here as ends and node numbers. */
function runningSum(steps: Uint32Array | Int32Array): Uint32Array {
  const sums = new Uint32Array(steps.length);
  let sum = 0;
  for (let i = 0; i < steps.length; i++) {
    sum += steps[i];
    sums[i] = sum;
  }
  return sums;
}

function decodePairs(bytes: Uint8Array | undefined): Pairs {
  const message = readPairs(new PbfReader(bytes ?? new Uint8Array(0)));
  const count = message.pair_count;
  const members = (column_: Uint8Array | undefined): number => (column_?.length ?? 0) / 4;
  return {
    count,
    targetEnd: runningSum(column(message.target_count, Uint32Array, count, 'pairs.target_count')),
    targetNodes: runningSum(column(message.target_delta, Int32Array, members(message.target_delta), 'pairs.target_delta')),
    goldenEnd: runningSum(column(message.golden_count, Uint32Array, count, 'pairs.golden_count')),
    goldenNodes: runningSum(column(message.golden_delta, Int32Array, members(message.golden_delta), 'pairs.golden_delta')),
    relation: column(message.relation, Uint8Array, count, 'pairs.relation'),
    how: column(message.how, Uint8Array, count, 'pairs.how'),
    confidence: column(message.confidence, Uint8Array, count, 'pairs.confidence'),
    evidence: column(message.evidence, Uint32Array, count, 'pairs.evidence'),
    evidenceTexts: message.evidence_texts.map((text, i) => saidOf(message.evidence_messages[i], text)),
  };
}

function decodeVerdicts(bytes: Uint8Array | undefined, pairCount: number): Verdicts {
  const message = readVerdicts(new PbfReader(bytes ?? new Uint8Array(0)));
  // A dump without statistics has pairs but no verdicts: every column then reads "nothing measured".
  const measured = message.pair_count > 0;
  const errors = (bytes_: Uint8Array | undefined, name: string): Float32Array =>
    measured && bytes_ ? column(bytes_, Float32Array, pairCount, name) : new Float32Array(pairCount).fill(Number.NaN);
  return {
    status: column(message.status, Uint8Array, pairCount, 'verdicts.status'),
    cause: column(message.cause, Uint8Array, pairCount, 'verdicts.cause'),
    error: errors(message.error, 'verdicts.error'),
    inputError: errors(message.input_error, 'verdicts.input_error'),
    parameterError: errors(message.parameter_error, 'verdicts.parameter_error'),
    reasons: column(message.reasons, Uint32Array, pairCount, 'verdicts.reasons'),
  };
}

function assignPairs(side: Side, ends: Uint32Array, nodes: Uint32Array): void {
  let at = 0;
  for (let p = 0; p < ends.length; p++) for (; at < ends[p]; at++) side.pair[nodes[at]] = p;
}

/** Throws SourceError where the bytes are no graph. */
export function decodeGraph(key: GraphKey, version: string, sections: GraphSections): Graph {
  try {
    return decoded(key, version, sections);
  } catch (problem) {
    throw problem instanceof SourceError ? problem : damaged(problem instanceof Error ? problem.message : String(problem));
  }
}

function decoded(key: GraphKey, version: string, sections: GraphSections): Graph {
  const strings = decodeStrings(sections.strings);
  const target = decodeSide(sections.target, strings.count);
  const golden = sections.golden ? decodeSide(sections.golden, strings.count) : null;
  const pairs = decodePairs(golden ? sections.pairs : undefined);
  assignPairs(target, pairs.targetEnd, pairs.targetNodes);
  if (golden) assignPairs(golden, pairs.goldenEnd, pairs.goldenNodes);
  return {
    key,
    version,
    summary: readSummary(new PbfReader(sections.summary)),
    strings,
    target,
    golden,
    pairs,
    verdicts: decodeVerdicts(golden ? sections.verdicts : undefined, pairs.count),
  };
}

/** The same graph with other pairs and verdicts (after a re-match): topologies are shared, pair columns are new. */
export function withPairs(graph: Graph, pairsBytes: Uint8Array, verdictsBytes: Uint8Array, summaryBytes: Uint8Array): Graph {
  const pairs = decodePairs(pairsBytes);
  const fresh = (side: Side): Side => ({ ...side, pair: new Int32Array(side.count).fill(-1) });
  const target = fresh(graph.target);
  const golden = graph.golden ? fresh(graph.golden) : null;
  assignPairs(target, pairs.targetEnd, pairs.targetNodes);
  if (golden) assignPairs(golden, pairs.goldenEnd, pairs.goldenNodes);
  return { ...graph, target, golden, pairs, verdicts: decodeVerdicts(verdictsBytes, pairs.count), summary: readSummary(new PbfReader(summaryBytes)) };
}

