import { beforeEach, describe, expect, it } from 'vitest';
import { graph, source } from '../src/state/app';
import { absentNumbers, fetchNumbersAhead, pairNumbers, wantNumbers } from '../src/state/pair_numbers';
import { writePairErrors } from '../src/wire/graph_pb.js';
import type { Source } from '../src/wire/source';
import { encode, graphOf, outline } from './graphs';

const asked: string[] = [];
const norm = new Uint8Array(Float32Array.of(0.5).buffer);
const section = encode(writePairErrors, { pair_count: 1, max: norm, min: norm, mean: norm, norm });

function serve(size: number, answer: () => Promise<Uint8Array>): void {
  const index = { version: 'v', major: 1, tool: '', sections: [{ name: 'errors/outputs', stored_length: size, raw_length: size }] };
  source.value = {
    runs: () => Promise.reject(new Error('not asked for')),
    index: () => Promise.resolve(index),
    section: (_, name) => (asked.push(name), answer()),
    request: () => Promise.reject(new Error('not asked for')),
  } as Source;
}

const settled = () => new Promise((done) => setTimeout(done, 0));

beforeEach(() => {
  asked.length = 0;
  const nodes = outline('Module.a.Linear.forward.0');
  graph.value = graphOf(nodes, nodes, [{ target: [1], golden: [1] }]);
});

describe('errors of the statistics, fetched while nobody waits', () => {
  it('are there before a search needs them, and are asked for once', async () => {
    serve(100, () => Promise.resolve(section));
    fetchNumbersAhead(graph.value!);
    await settled();
    expect(pairNumbers.value.norm_err?.[0]).toBe(0.5);
    wantNumbers(['norm_err']);
    await settled();
    expect(asked).toEqual(['errors/outputs']);
  });

  it('are left to the search where they are many', async () => {
    serve(1 << 30, () => Promise.resolve(section));
    fetchNumbersAhead(graph.value!);
    await settled();
    expect(asked).toEqual([]);
    wantNumbers(['norm_err']);
    await settled();
    expect(pairNumbers.value.norm_err?.[0]).toBe(0.5);
  });

  it('are fetched for a search that comes while their size is asked for', async () => {
    serve(1 << 30, () => Promise.resolve(section));
    fetchNumbersAhead(graph.value!);
    wantNumbers(['norm_err']);
    await settled();
    expect(pairNumbers.value.norm_err?.[0]).toBe(0.5);
  });

  it('are not taken for missing because that failed: a search asks again', async () => {
    serve(100, () => Promise.reject(new Error('no connection')));
    fetchNumbersAhead(graph.value!);
    await settled();
    expect(absentNumbers.value).toEqual([]);
    serve(100, () => Promise.resolve(section));
    wantNumbers(['norm_err']);
    await settled();
    expect(pairNumbers.value.norm_err?.[0]).toBe(0.5);
  });
});
