import { describe, expect, it } from 'vitest';
import { CauseClass, colour } from '../src/core/colouring';
import { expectedPairs, EXPLAINED, firstLeft, MARKED } from '../src/core/expected';
import { Names } from '../src/core/names';
import { layerMatrix, layerStacks } from '../src/core/strip';
import { Cause } from '../src/core/types';
import { graphOf, identity, outline } from './graphs';

const NOTHING: ReadonlySet<number> = new Set();

/** Two layers that each introduce something inside, then a parameter; then the backward pass. */
const text = [
  'Module.layers.0.L.forward.0', // 1 introduced, by what is inside
  '  Module.layers.0.a.A.forward.0', // 2 introduced
  '  Module.layers.0.b.B.forward.0', // 3 inherited
  'Module.layers.1.L.forward.0', // 4 introduced
  '  Module.layers.1.a.A.forward.0', // 5 introduced
  '  Module.layers.1.b.B.forward.0', // 6 parameter
  'Module.layers.1.L.backward.0', // 7 introduced
].join('\n');
const CAUSES = [Cause.introduced, Cause.introduced, Cause.inherited, Cause.introduced, Cause.introduced, Cause.parameter, Cause.introduced];
const graph = graphOf(outline(text), outline(text), identity(7).map((pair, i) => ({ ...pair, cause: CAUSES[i], status: 3, error: 0.1 })));

const left = (...marked: number[]) => firstLeft(graph, expectedPairs(graph, new Set(marked), NOTHING), 'forward');

describe('the first divergence that is not marked', () => {
  it('is the innermost of the earliest', () => {
    expect(left()).toEqual({ pair: 1, node: 2, before: 0 });
  });

  it('moves on to the next cause, and says how many marked ones come before it', () => {
    expect(left(2)).toEqual({ pair: 4, node: 5, before: 1 });
    expect(left(2, 5)).toEqual({ pair: 5, node: 6, before: 2 });
  });

  it('is none where everything that began something is marked', () => {
    expect(left(2, 5, 6)).toEqual({ pair: -1, node: -1, before: 3 });
  });

  it('is the container where only it is left', () => {
    expect(left(1, 4, 5, 6)).toMatchObject({ node: 2 });
  });

  it('keeps forward and backward apart', () => {
    expect(firstLeft(graph, expectedPairs(graph, NOTHING, NOTHING), 'backward')).toEqual({ pair: 6, node: 7, before: 0 });
  });
});

describe('pairs that marks explain', () => {
  it('are those of a marked node of either side', () => {
    expect([...expectedPairs(graph, new Set([3]), new Set([6]))]).toEqual([0, 0, MARKED, 0, 0, MARKED, 0]);
  });

  it('are containers whose causes inside are all marked', () => {
    expect([...expectedPairs(graph, new Set([2, 5]), NOTHING)]).toEqual([EXPLAINED, MARKED, 0, 0, MARKED, 0, 0]);
    expect([...expectedPairs(graph, new Set([2, 5, 6]), NOTHING)]).toEqual([EXPLAINED, MARKED, 0, EXPLAINED, MARKED, MARKED, 0]);
  });

  it('explain nested containers from the inside out', () => {
    const nested = outline('Module.o.O.forward.0\n  Module.o.m.M.forward.0\n    Module.o.m.i.I.forward.0');
    const chain = graphOf(nested, nested, identity(3).map((pair) => ({ ...pair, cause: Cause.introduced, status: 3 })));
    expect([...expectedPairs(chain, new Set([3]), NOTHING)]).toEqual([EXPLAINED, EXPLAINED, MARKED]);
  });
});

it.each(['cause', 'status', 'error', 'inputError', 'metric:Cosine'] as const)('hidden marks are the class expected when coloured by %s, whatever had been wrong', (mode) => {
  const hidden = expectedPairs(graph, new Set([2, 6]), NOTHING);
  const values = new Float32Array(7).fill(0.5);
  const shown = colour(graph, mode, 0, values, hidden);
  const id = (node: number) => shown.classes[shown.target.classes[node]].id;
  if (mode !== 'inputError') expect([1, 2, 6].map(id)).toEqual(['expected', 'expected', 'expected']); // no inputs were measured there
  expect(id(3)).not.toBe('expected');
  expect(colour(graph, mode, 0, values).target.classes[2]).not.toBe(CauseClass.expected);
});

it('the layer strip leads to the next cause', () => {
  const hidden = expectedPairs(graph, new Set([2]), NOTHING);
  const names = new Names(graph);
  const [stack] = layerStacks(graph.target, names);
  const cells = layerMatrix(graph, names, colour(graph, 'cause', 0, null, hidden), stack, 0, -1);
  expect([...cells.cls]).toEqual([CauseClass.expected, CauseClass.parameter]);
  expect([...layerMatrix(graph, names, colour(graph, 'cause', 0), stack, 0, -1).cls]).toEqual([CauseClass.introduced, CauseClass.parameter]);
});
