import { describe, expect, it } from 'vitest';
import { nodeName } from '../src/core/names';
import { textTable } from '../src/core/name_text';
import { markedNodes, patternChoices } from '../src/core/triage';
import { inMicroStep, pairDescendants, twinOf } from '../src/core/twins';
import { smallGraph } from './small_graph';

const graph = smallGraph(
  [
    { depth: 1, name: 'Module.forward_head.Head.forward.0' },
    { depth: 2, name: 'Module.forward_head.fc1.Linear.forward.0' },
    { depth: 3, name: 'Functional.linear.0.forward' },
    { depth: 2, name: 'Module.forward_head.act.GELU.forward.0' },
    { depth: 1, name: 'Module.forward_head.Head.backward.0' },
    { depth: 1, name: 'Module.forward_head.Head.forward.1' },
  ],
  [
    { depth: 1, name: 'Module.head.Top.forward.0' },
    { depth: 2, name: 'Module.head.dense.Linear.forward.0' },
    { depth: 3, name: 'Torch.linear.0.forward' },
    { depth: 3, name: 'Torch.add.0.forward' },
    { depth: 2, name: 'Module.head.gelu.NewGELU.forward.0' },
    { depth: 1, name: 'Functional.linear.0.backward' },
  ],
  [],
);

describe('the other direction of a call', () => {
  it('is found by the component, not by the word: a module may be called forward_head', () => {
    const twin = (node: number) => twinOf(graph, graph.target, node);
    expect(nodeName(graph, graph.target, twin(1))).toBe('Module.forward_head.Head.backward.0');
    expect(twin(5)).toBe(1);
    expect(twin(6)).toBe(-1); // its backward call is not in the dump: nothing is invented
  });
});

describe('the same call in another micro step', () => {
  const twice = smallGraph(
    [0, 1].flatMap((micro) => [
      { depth: 1, name: `Module.net.Net.forward.${micro}` },
      { depth: 2, name: `Functional.linear.${2 * micro}.forward` },
      { depth: 2, name: `Functional.linear.${2 * micro + 1}.forward` },
    ]),
    [{ depth: 1, name: 'Module.net.Net.forward.0' }],
    [],
  );
  const target = { ...twice.target, microStep: Uint16Array.from([0, 0, 0, 0, 1, 1, 1]) };
  const two = { ...twice, target };
  const to = (node: number, micro: number) => inMicroStep(two, { side: 'target', node }, micro);

  it('is the module of the same name, and the API of the same place among its equals', () => {
    expect(to(1, 1)).toEqual({ side: 'target', node: 4 });
    expect(to(3, 1)).toEqual({ side: 'target', node: 6 });
    expect(to(5, 0)).toEqual({ side: 'target', node: 2 });
  });

  it('is the node itself where all micro steps are shown, and nothing where that one has none', () => {
    expect(to(3, -1)).toEqual({ side: 'target', node: 3 });
    expect(to(3, 7)).toBeNull();
  });
});

describe('matching with everything inside', () => {
  it('pairs by name, then modules in call order, never different operations', () => {
    const names = pairDescendants(graph, 1, 1).map(([a, b]) => [nodeName(graph, graph.target, a), nodeName(graph, graph.golden!, b)]);
    expect(names).toEqual([
      ['Module.forward_head.fc1.Linear.forward.0', 'Module.head.dense.Linear.forward.0'],
      ['Functional.linear.0.forward', 'Torch.linear.0.forward'],
      ['Module.forward_head.act.GELU.forward.0', 'Module.head.gelu.NewGELU.forward.0'],
    ]);
  });
});

describe('marks', () => {
  const text = textTable(graph.strings.utf8, graph.strings.end);
  const nodes = (pattern: string) => markedNodes(graph, text, 'target', { nodes: pattern, side: 'target', verdict: 'expected' });

  it('are about whole names', () => {
    expect(nodes('Module.forward_head.Head.forward.0')).toEqual([1]);
    expect(nodes('Module.forward_head')).toEqual([]);
    expect(nodes('Module.forward_head.Head.*')).toEqual([1, 5, 6]);
    expect(nodes('module.forward_head.*')).toEqual([]);
    expect(markedNodes(graph, text, 'golden', { nodes: '*', side: 'target', verdict: 'expected' })).toEqual([]);
  });

  it('offer patterns from one call to a class everywhere, each of which covers the call', () => {
    const name = 'Module.model.layers.12.mlp.MLP.forward.3';
    const choices = patternChoices(name);
    expect(choices.map((choice) => choice.pattern)).toEqual([
      name,
      'Module.model.layers.12.mlp.MLP.forward.*',
      'Module.model.layers.*.mlp.MLP.forward.*',
      'Module.model.layers.12.mlp.*',
      '*.MLP.forward.*',
    ]);
    expect(patternChoices('Functional.linear.12.forward').map((choice) => choice.pattern)).toEqual(['Functional.linear.12.forward', 'Functional.linear.*.forward']);
    expect(patternChoices('odd')).toHaveLength(1);
  });
});
