import { describe, expect, it } from 'vitest';
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
