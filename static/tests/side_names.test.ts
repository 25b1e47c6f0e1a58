import { describe, expect, it } from 'vitest';
import { goldenFor, sidesOf } from '../src/core/side_names';

describe('target and golden among dump directories', () => {
  it.each([
    [['gpu', 'npu'], 'npu', 'gpu'],
    [['dumps/golden', 'dumps/target'], 'dumps/target', 'dumps/golden'],
    [['bench_dump', 'dump'], 'dump', 'bench_dump'],
    [['qwen/gpu0', 'qwen/npu8'], 'qwen/npu8', 'qwen/gpu0'],
    [['cpu', 'gpu'], 'gpu', 'cpu'],
    [['baseline', 'run-0412'], 'run-0412', 'baseline'],
    [['GPU', 'NPU'], 'NPU', 'GPU'],
    [['notes', 'qwen_gpu', 'qwen_npu'], 'qwen_npu', 'qwen_gpu'],
    [['npu_debug', 'npu_golden'], 'npu_debug', 'npu_golden'],
  ])('are told apart by the names %j', (names, target, golden) => {
    expect(sidesOf(names)).toEqual({ target, golden });
    expect(sidesOf([...names].reverse())).toEqual({ target, golden });
  });

  it.each([[['hf', 'megatron']], [['run1', 'run2']], [['gpu_a', 'gpu_b']], [['one']], [[]], [['a/gpu', 'a/npu', 'b/gpu', 'b/npu']], [['gpu', 'npu1', 'npu2']], [['basement', 'targeted']]])('are not guessed from the names %j', (names) => {
    expect(sidesOf(names)).toBe(null);
  });

  it('the golden one follows from the target where the rest of the name is the same', () => {
    const names = ['a/gpu', 'a/npu', 'b/gpu', 'b/npu', 'c'];
    expect(goldenFor('b/npu', names)).toBe('b/gpu');
    expect(goldenFor('b/gpu', names)).toBe('');
    expect(goldenFor('c', names)).toBe('');
  });
});
