import { describe, expect, it } from 'vitest';
import { availableModes, CauseClass, colour } from '../src/core/colouring';
import { expectedPairs } from '../src/core/expected';
import { findingClasses, findings, neighbour, refOf, rowOfRef, type FindingFilter } from '../src/core/findings';
import { addWorst, measuringNames, metricLabel } from '../src/core/metrics';
import { Names } from '../src/core/names';
import { intensity, layerMatrix, layerStacks } from '../src/core/strip';
import { Cause } from '../src/core/types';
import { reasonSummary } from '../src/state/reasons';
import type { Comparisons } from '../src/wire/blocks';
import { graphOf, identity, outline, transformer } from './graphs';

const everything: FindingFilter = { groups: new Set(['cause', 'inherited', 'clean', 'unmatched', 'incomparable']), forward: false, backward: false, microStep: -1, byError: false };

describe('findings', () => {
  const graph = graphOf(
    outline('Module.a.A.forward.0\nModule.b.B.forward.0\nModule.only.O.forward.0\nModule.c.C.forward.0\nModule.c.C.backward.0'),
    outline('Module.a.A.forward.0\nModule.extra.E.forward.0\nModule.b.B.forward.0\nModule.c.C.forward.0\nModule.c.C.backward.0'),
    [
      { target: [1], golden: [1], cause: 1, error: 0 },
      { target: [2], golden: [3], cause: 2, status: 3, error: 0.5 },
      { target: [4], golden: [4], cause: 5, status: 3, error: Infinity },
      { target: [5], golden: [5], cause: 5, status: 3, error: 0.1 },
    ],
  );
  const classes = findingClasses(graph);

  it('stand in call order, golden ones where they would have been called', () => {
    expect([...findings(graph, classes, everything).rows]).toEqual([1, -3, 2, 3, 4, 5]);
  });

  it('are counted whatever is shown', () => {
    const list = findings(graph, classes, { ...everything, groups: new Set(['cause']) });
    expect([...list.rows]).toEqual([2]);
    expect(list.counts).toMatchObject({ cause: 1, inherited: 2, clean: 1, unmatched: 2 });
  });

  it('count calls of APIs that have no counterpart apart from modules', () => {
    const other = graphOf(outline('Module.a.A.forward.0\n  Functional.linear.0.forward\n  Tensor.view.0.forward'), outline('Module.a.A.forward.0\nModule.b.B.forward.0'), [{ target: [1], golden: [1], cause: 1, error: 0 }]);
    const list = findings(other, findingClasses(other), { ...everything, groups: new Set(['unmatchedCalls']) });
    expect([...list.rows]).toEqual([2, 3]);
    expect(list.counts).toMatchObject({ unmatched: 1, unmatchedCalls: 2 });
  });

  it('can be those of one direction', () => {
    expect([...findings(graph, classes, { ...everything, backward: true }).rows]).toEqual([5]);
  });

  it('can stand by error: non-finite first, unmeasured last', () => {
    expect([...findings(graph, classes, { ...everything, byError: true }).rows].slice(0, 3)).toEqual([4, 2, 5]);
  });

  it('leave out what a person marked as expected', () => {
    const marked = new Set([2, 3]);
    const list = findings(graph, classes, { ...everything, hidden: marked, hiddenPairs: expectedPairs(graph, marked, new Set()) });
    expect([...list.rows]).toEqual([1, -3, 4, 5]);
    expect(list.counts.cause).toBe(0);
    const fromTheOtherSide = findings(graph, classes, { ...everything, hiddenPairs: expectedPairs(graph, new Set(), new Set([3])) });
    expect([...fromTheOtherSide.rows]).toEqual([1, -3, 3, 4, 5]);
  });

  it('are walked from the selection on, round the end', () => {
    const { rows } = findings(graph, classes, { ...everything, groups: new Set(['cause', 'inherited']) });
    expect([...rows]).toEqual([2, 4, 5]);
    expect(rows[neighbour(rows, 1, 1)]).toBe(2);
    expect(rows[neighbour(rows, 5, 1)]).toBe(2);
    expect(rows[neighbour(rows, 3, -1)]).toBe(2);
    expect(neighbour(new Int32Array(0), 3, 1)).toBe(-1);
  });

  it('name a pair by its target node from either side', () => {
    expect(rowOfRef(graph, { side: 'golden', node: 3 })).toBe(2);
    expect(refOf(rowOfRef(graph, { side: 'golden', node: 2 }))).toEqual({ side: 'golden', node: 2 });
  });
});

describe('colours', () => {
  const nodes = outline('Module.a.A.forward.0\nModule.b.B.forward.0\nModule.c.C.forward.0\nApis_Between_Modules.0');

  it('say "not measured" and never "clean" where there are no numbers', () => {
    const graph = graphOf(nodes, nodes, identity(3, () => ({ status: 4, cause: 0 })));
    expect([...colour(graph, 'cause', 0).target.classes]).toEqual([0, 0, 0, 0, 0]);
    expect(availableModes(graph)).toEqual(['how', 'none']);
  });

  it('keep "not comparable" apart from clean', () => {
    const graph = graphOf(nodes, nodes, identity(2, (node) => (node === 2 ? { status: 4, cause: 0 } : {})));
    expect([...colour(graph, 'cause', 0).target.classes]).toEqual([0, CauseClass.clean, CauseClass.incomparable, CauseClass.unmatched, 0]);
  });

  it('count an error up to the threshold as clean, a non-finite one never', () => {
    const graph = graphOf(nodes, nodes, identity(3, (node) => ({ error: [2e-4, 0.5, Infinity][node - 1] })));
    const strict = colour(graph, 'error', 0);
    const loose = colour(graph, 'error', 1);
    expect(strict.classes[strict.target.classes[1]].range).toBe('2e-4 – 5e-4');
    expect(strict.classes[strict.target.classes[2]].range).toBe('0.5 – 1');
    expect([...loose.target.classes].slice(1, 4).map((cls) => loose.classes[cls].id)).toEqual(['clean', 'clean', 'nonfinite']);
  });

  it('never speak without a second sign', () => {
    const graph = graphOf(nodes, nodes, identity(3));
    for (const mode of ['cause', 'status', 'error', 'how'] as const) {
      const signs = colour(graph, mode, 0).classes.slice(2).map((item) => item.sign);
      expect(new Set(signs).size).toBe(signs.length);
      expect(signs).not.toContain('');
    }
  });

  it('offer nothing to compare for a single graph', () => {
    expect(availableModes(graphOf(nodes, null))).toEqual(['none']);
  });
});

describe('layer strip', () => {
  const nodes = transformer(4, 3);
  const perLayer = (nodes.length - 1) / 4;
  const bad = 2 + 2 * perLayer + 3; // a call inside layer 2's attention
  const graph = graphOf(nodes, nodes, identity(nodes.length, (node) => (node === bad ? { cause: 3, status: 3, error: 0.2 } : node > bad ? { cause: 5, status: 3, error: 0.01 } : { error: 0 })));
  const names = new Names(graph);

  it('finds the stack of layers', () => {
    const stacks = layerStacks(graph.target, names);
    expect(stacks).toHaveLength(1);
    expect(stacks[0].label).toBe('model.layers');
    expect(stacks[0].layers).toEqual([0, 1, 2, 3]);
  });

  it('shows in which layer and sub-module it begins, and jumps to the call', () => {
    const matrix = layerMatrix(graph, names, colour(graph, 'cause', 0), layerStacks(graph.target, names)[0], 8, -1);
    expect(matrix.rows).toEqual(['attention', 'mlp']);
    const classes = [...matrix.cls];
    expect(classes).toEqual([1, 1, CauseClass.introduced, CauseClass.inherited, 1, 1, CauseClass.inherited, CauseClass.inherited]);
    expect(matrix.node[2]).toBe(bad);
  });

  it('is one line for the whole layer when asked', () => {
    const matrix = layerMatrix(graph, names, colour(graph, 'cause', 0), layerStacks(graph.target, names)[0], 0, -1);
    expect([...matrix.cls]).toEqual([1, 1, CauseClass.introduced, CauseClass.inherited]);
  });

  it('does not take a model chunk for a stack, nor experts inside a layer', () => {
    const chunked = graphOf(outline('Module.0.layers.0.L.forward.0\n  Module.0.layers.0.experts.0.E.forward.0\n  Module.0.layers.0.experts.1.E.forward.0\nModule.0.layers.1.L.forward.0\nModule.1.layers.0.L.forward.0'), null);
    expect(layerStacks(chunked.target, new Names(chunked)).map((stack) => stack.label)).toEqual(['0.layers']);
  });

  it('tints by decades below the largest error', () => {
    expect(intensity(1, 1)).toBe(1);
    expect(intensity(0.01, 1)).toBeCloseTo(0.5);
    expect(intensity(1e-9, 1)).toBe(0.4);
    expect(intensity(Number.NaN, 1)).toBe(1);
  });
});

describe('metrics of the elements', () => {
  const block = {
    firstPair: 4,
    pairCount: 3,
    rowEnd: Uint32Array.from([2, 2, 3]),
    metricNames: ['Cosine', 'MaxAbsErr', 'Worst Index'],
    metrics: Float64Array.from([1, 0.5, 3, 0.9, 0.25, 7, Number.NaN, Infinity, 0]),
  } as unknown as Comparisons;

  it('give a pair the value of its worst row, a metric whose best is 1 its distance from 1', () => {
    const cosine = new Float32Array(8).fill(Number.NaN);
    const largest = new Float32Array(8).fill(Number.NaN);
    addWorst(block, 'Cosine', cosine);
    addWorst(block, 'MaxAbsErr', largest);
    expect(cosine[4]).toBeCloseTo(0.1);
    expect([largest[4], largest[5], largest[6]]).toEqual([0.5, Number.NaN, Infinity]);
    expect(cosine[6]).toBeNaN();
  });

  it('are only those that measure something', () => {
    expect(measuringNames(block.metricNames)).toEqual(['Cosine', 'MaxAbsErr']);
    expect([metricLabel('Cosine'), metricLabel('MaxAbsErr')]).toEqual(['1 − Cosine', 'MaxAbsErr']);
  });

  it('colour like every other error, and say "not measured" until they are there', () => {
    const nodes = outline('Module.a.A.forward.0\nModule.b.B.forward.0');
    const graph = graphOf(nodes, nodes, identity(2));
    const there = colour(graph, 'metric:MaxAbsErr', 0, Float32Array.from([0, 0.2]));
    expect([...there.target.classes].map((cls) => there.classes[cls].id)).toEqual(['none', 'clean', 'scale14']);
    expect([...colour(graph, 'metric:MaxAbsErr', 0).target.classes]).toEqual([0, 0, 0]);
  });
});

describe('the phrase of a finding', () => {
  const nodes = outline('Module.a.A.forward.0');
  const phrase = (cause: number, inputError: number): string => {
    const graph = graphOf(nodes, nodes, identity(1));
    graph.verdicts.cause[0] = cause;
    graph.verdicts.inputError[0] = inputError;
    return reasonSummary(graph, 0);
  };

  it('says of an introduced difference what its inputs were: a bare number would read as the name of one', () => {
    expect([0, 0.02, Number.NaN].map((error) => phrase(Cause.introduced, error))).toEqual(['inputs agree', 'input error 2.0e-2', '']);
  });
});
