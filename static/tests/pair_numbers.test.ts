import { describe, expect, it } from 'vitest';
import { asMeasured } from '../src/core/metrics';
import { METRIC_NAMES, NUMBERS, parseQuery } from '../src/core/query';
import { outputErrors } from '../src/wire/pair_errors';

const bytes = (...values: number[]) => new Uint8Array(Float32Array.from(values).buffer);

describe('errors of single statistics', () => {
  it('are the file’s numbers, and the pair’s own error where it says so', () => {
    const error = Float32Array.of(0.5, Number.NaN, 0.25);
    const columns = outputErrors({ pair_count: 3, max: bytes(-1, Number.NaN, 0), min: bytes(0.125, Number.NaN, -1), mean: bytes(0, Number.NaN, Infinity), norm: bytes(-1, Number.NaN, -1) }, error);
    expect([...columns.max_err]).toEqual([0.5, Number.NaN, 0]);
    expect([...columns.min_err]).toEqual([0.125, Number.NaN, 0.25]);
    expect([...columns.mean_err]).toEqual([0, Number.NaN, Infinity]);
    expect([...columns.norm_err]).toEqual([0.5, Number.NaN, 0.25]);
  });

  it('of another number of pairs are refused', () => {
    expect(() => outputErrors({ pair_count: 1, max: bytes(1), min: bytes(1), mean: bytes(1), norm: bytes(1) }, new Float32Array(2))).toThrow();
  });
});

it('metrics are asked for as they are measured, not as their distance from perfect', () => {
  expect(asMeasured('Cosine', 0.25)).toBe(0.75);
  expect(asMeasured('MaxAbsErr', 0.25)).toBe(0.25);
});

it('every number that the language knows can be asked for under its name', () => {
  for (const field of NUMBERS) expect(parseQuery(`${field}>0`).terms[0]).toMatchObject({ kind: 'number', field });
  expect(Object.keys(METRIC_NAMES)).toContain('cosine');
});
