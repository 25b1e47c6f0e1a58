import { describe, expect, it } from 'vitest';
import { largestFirst, rank } from '../src/core/ordering';

describe('sorting rows by a key each', () => {
  it('agrees with a stable comparison, whatever bits the keys differ in', () => {
    let seed = 7;
    const random = (): number => (seed = (seed * 1103515245 + 12345) % 2 ** 31);
    for (const [count, shift] of [[0, 0], [1, 0], [500, 0], [500, 11], [3000, 21], [3000, 3]] as const) {
      const keys = Uint32Array.from({ length: count }, () => (random() % 700) * 2 ** shift);
      const rows = Int32Array.from({ length: count }, (_, i) => i * 3 - 50);
      const expected = [...rows.keys()].sort((a, b) => keys[b] - keys[a] || a - b).map((i) => rows[i]);
      expect([...largestFirst(rows, keys.slice())]).toEqual(expected);
    }
  });

  it('leaves the rows that it was given as they are', () => {
    const rows = Int32Array.of(5, 6, 7);
    expect([...largestFirst(rows, Uint32Array.of(1, 3, 2))]).toEqual([6, 7, 5]);
    expect([...rows]).toEqual([5, 6, 7]);
  });

  it('ranks values as they compare, with nothing measured below everything', () => {
    const values = [Number.NaN, 0, 1e-38, 1e-7, 0.5, 1, 3e38, Infinity];
    const ranks = values.map(rank);
    expect(ranks).toEqual([...ranks].sort((a, b) => a - b));
    expect(new Set(ranks).size).toBe(values.length);
  });
});
