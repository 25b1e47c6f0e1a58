import { describe, expect, it } from 'vitest';
import { distinctLabels } from '../src/core/short_names';

describe('labels of a list', () => {
  it('keep the numbered layer and the end of a name', () => {
    expect(distinctLabels([['model', 'layers.12', 'self_attn', 'q_proj']], 40)).toEqual(['layers.12 · … · q_proj']);
  });

  it('add what tells two rows apart', () => {
    expect(distinctLabels([['layers.1', 'attention', 'inner', 'norm'], ['layers.1', 'mlp', 'inner', 'norm']], 60)).toEqual(['layers.1 · attention · … · norm', 'layers.1 · mlp · … · norm']);
  });

  it('are different for different names even where they must be cut', () => {
    const long = (middle: string) => ['layers.1', `${'a'.repeat(80)}${middle}${'b'.repeat(80)}`];
    const labels = distinctLabels([long('x'), long('y')], 30);
    expect(new Set(labels).size).toBe(2);
  });

  it('are different for every pair of different names', () => {
    const trails = ['a', 'b', 'c'].flatMap((x) => ['layers.1', 'layers.2'].flatMap((y) => ['p', 'q'].map((z) => [x, y, z, 'norm'])));
    expect(new Set(distinctLabels(trails, 44)).size).toBe(trails.length);
  });

  it('drop the separators before they drop letters', () => {
    expect(distinctLabels([['model', 'layers.2', 'self_attention', 'linear_proj']], 22)).toEqual(['layers.2…linear_proj']);
  });

  it('keep empty and single names', () => {
    expect(distinctLabels([[], ['x'], ['']], 10)).toEqual(['', 'x', '']);
  });
});
