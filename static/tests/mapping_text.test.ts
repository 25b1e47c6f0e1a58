import { describe, expect, it } from 'vitest';
import { Names } from '../src/core/names';
import { ruleOfPair } from '../src/core/rule_of_pair';
import { graphOf, outline } from './graphs';
import { addRule, changeRule, isPlainRule, lineRange, placeIn, removeRule, sideText } from '../src/core/mapping_text';

const FILE = `# mine
TopLayer:
  decoder: model  # why
MLP:
  linear_fc1: [gate_proj, up_proj]
  linear_fc2: down_proj
classes:
  MLP: Qwen2MLP
`;

describe('the text of a mapping', () => {
  it('gets a rule behind the others of its class, and keeps the rest as it was', () => {
    expect(addRule(FILE, { scope: 'TopLayer', source: 'output_layer', target: 'lm_head' })).toBe(FILE.replace('  decoder: model  # why\n', '  decoder: model  # why\n  output_layer: lm_head\n'));
  });

  it('gets a new class before what is no class', () => {
    expect(addRule(FILE, { scope: 'SelfAttention', source: 'linear_qkv', target: 'q_proj, k_proj, v_proj' })).toContain('  linear_fc2: down_proj\nSelfAttention:\n  linear_qkv: [q_proj, k_proj, v_proj]\nclasses:');
    expect(addRule('', { scope: 'A', source: 'b', target: '' })).toBe('A:\n  b: []\n');
  });

  it('puts in quotes what YAML would read as something else', () => {
    expect(sideText('on')).toBe('"on"');
    expect(sideText('0')).toBe('"0"');
    expect(sideText('layers.{i}')).toBe('"layers.{i}"');
    expect(sideText('0.decoder')).toBe('0.decoder');
    expect(sideText('[a, b]')).toBe('[a, b]');
  });

  it('loses a rule, and the class with its last one', () => {
    expect(removeRule(FILE, 6)).toBe(FILE.replace('  linear_fc2: down_proj\n', ''));
    expect(removeRule(FILE, 3)).toBe(FILE.replace('TopLayer:\n  decoder: model  # why\n', ''));
  });

  it('keeps the comment of a changed rule', () => {
    expect(changeRule(FILE, 3, { source: 'decoder', target: 'net' })).toContain('  decoder: net  # why\n');
  });

  it('says which rules it can change and which only a person can', () => {
    expect(isPlainRule(FILE, 3)).toBe(true);
    expect(isPlainRule(FILE, 2)).toBe(false);
    expect(isPlainRule('A:\n  b: [c,\n    d]\n', 2)).toBe(false);
    expect(isPlainRule(FILE, 99)).toBe(false);
  });

  it('finds the line of a mistake', () => {
    expect(placeIn('mine.yaml, line 12, column 3: no')).toEqual({ line: 12, column: 3 });
    expect(placeIn('nothing')).toBeNull();
    expect(FILE.slice(...lineRange(FILE, 4))).toBe('MLP:');
  });
});

describe('a rule from a selected pair', () => {
  const graph = graphOf(
    outline('Module.decoder.Block.forward.0\n  Module.decoder.layers.2.self_attention.SelfAttention.forward.0\n    Module.decoder.layers.2.self_attention.linear_qkv.ColumnParallelLinear.forward.0\n      Functional.linear.0.forward'),
    outline('Module.model.Model.forward.0\n  Module.model.layers.2.self_attn.Attention.forward.0\n    Module.model.layers.2.self_attn.q_proj.Linear.forward.0\n    Module.model.layers.2.self_attn.k_proj.Linear.forward.0\nModule.lm_head.Linear.forward.0'),
    [
      { target: [1], golden: [1], cause: 1 },
      { target: [3], golden: [3, 4], cause: 1 },
    ],
  );
  const names = new Names(graph);

  it('has the class around it and the names below that class', () => {
    const rule = { scope: 'SelfAttention', source: 'linear_qkv', target: 'q_proj, k_proj' };
    expect(ruleOfPair(graph, names, { side: 'target', node: 3 })).toEqual(rule);
    expect(ruleOfPair(graph, names, { side: 'golden', node: 4 })).toEqual(rule);
    expect(ruleOfPair(graph, names, { side: 'target', node: 1 })).toEqual({ scope: 'TopLayer', source: 'decoder', target: 'model' });
  });

  it('leaves open what is not known yet, and is none for a call', () => {
    expect(ruleOfPair(graph, names, { side: 'golden', node: 5 })).toEqual({ scope: '', source: '', target: 'lm_head' });
    expect(ruleOfPair(graph, names, { side: 'target', node: 4 })).toBeNull();
  });
});
