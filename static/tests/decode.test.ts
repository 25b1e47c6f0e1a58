import { stringAt, textTable } from '../src/core/name_text';
import { StringTable } from '../src/core/strings';
import { describe, expect, it } from 'vitest';
import { nodeName } from '../src/core/names';
import { deriveTree } from '../src/core/tree';
import { pairNodes, partners } from '../src/core/types';
import { column } from '../src/wire/columns';
import { decodeGraph, withPairs } from '../src/wire/decode';
import { graphOf, outline, sectionsOf } from './graphs';

const names = ['Module.a.A.forward.0', 'Functional.linear.0.forward', 'Functional.linear.7.forward', 'Module.a.A.forward.1', 'Functional.linear.3.forward', 'plain name'];

describe('decoding a graph file', () => {
  it('gives back every name, whatever the order of the call numbers', () => {
    const graph = graphOf(names.map((name) => ({ depth: 1, name })), null);
    expect(names.map((_, i) => nodeName(graph, graph.target, i + 1))).toEqual(names);
  });

  it('keeps names that are no ASCII or look like markup as they are', () => {
    const hostile = ['Module.<img src=x onerror=alert(1)>.X.forward.0', 'Module.模型.層.forward.3', 'Module.‮rtl.X.forward.0', 'Module.a..b.forward.0', `Module.${'x'.repeat(300)}.X.forward.0`, '../../etc/passwd', 'Module."quoted\'.X.forward.0'];
    const graph = graphOf(hostile.map((name) => ({ depth: 1, name })), null);
    expect(hostile.map((_, i) => nodeName(graph, graph.target, i + 1))).toEqual(hostile);
  });

  it('derives parents and subtree ends from depths alone', () => {
    const graph = graphOf(outline('a\n  b\n    c\n  d\ne'), null);
    expect([...graph.target.parent]).toEqual([-1, 0, 1, 2, 1, 0]);
    expect([...graph.target.end]).toEqual([6, 5, 4, 4, 5, 6]);
  });

  it('handles a chain of 10,000 levels and 10,000 siblings', () => {
    const chain = deriveTree(Uint16Array.from({ length: 10_001 }, (_, i) => i));
    expect(chain.parent[10_000]).toBe(9_999);
    expect(chain.end[1]).toBe(10_001);
    const wide = deriveTree(Uint16Array.from({ length: 10_001 }, (_, i) => (i === 0 ? 0 : 1)));
    expect(wide.end[5]).toBe(6);
    expect(wide.end[0]).toBe(10_001);
  });

  it('refuses depths that no tree has', () => {
    expect(() => deriveTree(Uint16Array.from([0, 1, 3]))).toThrow(/node 2 has depth 3/);
    expect(() => deriveTree(Uint16Array.from([0, 0]))).toThrow(RangeError);
  });

  it('joins groups of nodes and numbers pairs by their first target node', () => {
    const graph = graphOf(outline('qkv\nproj'), outline('q\nk\nv\no'), [
      { target: [2], golden: [4] },
      { target: [1], golden: [1, 2, 3], relation: 1 },
    ]);
    expect([...pairNodes(graph.pairs, 0, 'golden')]).toEqual([1, 2, 3]);
    expect([...partners(graph, 'golden', 3)]).toEqual([1]);
    expect([...partners(graph, 'target', 2)]).toEqual([4]);
    expect(graph.pairs.relation[0]).toBe(1);
  });

  it('reads a file without verdicts as "nothing measured"', () => {
    const { verdicts: _, ...sections } = sectionsOf(outline('a'), outline('a'), [{ target: [1], golden: [1] }]);
    const graph = decodeGraph({ run: 'r', step: 0, rank: 0 }, 'v', sections);
    expect(graph.verdicts.status[0]).toBe(0);
    expect(graph.verdicts.error[0]).toBeNaN();
  });

  it('says which column is damaged', () => {
    expect(() => column(new Uint8Array(7), Uint32Array, 2, 'pairs.evidence')).toThrow('the graph file is damaged');
    expect(() => column(new Uint8Array(7), Uint32Array, 2, 'pairs.evidence')).toThrow(/pairs\.evidence/);
  });

  it('reads columns that are not aligned', () => {
    const bytes = new Uint8Array(13);
    new DataView(bytes.buffer).setFloat32(5, 1.5, true);
    expect(column(bytes.subarray(5, 9), Float32Array, 1, 'x')[0]).toBe(1.5);
  });

  it('takes new pairs after a re-match and leaves the old graph as it was', () => {
    const before = graphOf(outline('a\nb'), outline('a\nb'), [{ target: [1], golden: [1] }]);
    const other = sectionsOf(outline('a\nb'), outline('a\nb'), [{ target: [1], golden: [2] }]);
    const after = withPairs(before, other.pairs as Uint8Array, other.verdicts as Uint8Array, other.summary);
    expect([...partners(after, 'target', 1)]).toEqual([2]);
    expect([...partners(before, 'target', 1)]).toEqual([1]);
  });
});

describe('strings of a graph file', () => {
  it('keep a byte order mark at their beginning: it belongs to the name', () => {
    const table = StringTable.of(['\ufeffnode', 'é']);
    expect([table.get(0), table.get(1)]).toEqual(['\ufeffnode', 'é']);
    expect(stringAt(textTable(table.utf8, table.end), 0)).toBe('\ufeffnode');
  });
});
