import { describe, expect, it } from 'vitest';
import { boundOf, boundText, classesOnScale, FIRST_STEP, RELATIVE_SCALE, scaleClasses, scaleFor, thresholdStops } from '../src/core/scale';

const ranges = (values: number[], scale = scaleFor(Float32Array.from(values)), threshold = 0): string[] => {
  const classes = scaleClasses(scale);
  return [...classesOnScale(Float32Array.from(values), scale, threshold)].map((cls) => classes[cls].range ?? classes[cls].id);
};

describe('the scale of a number', () => {
  it('puts every value between the bounds that its legend names', () => {
    for (const scale of [RELATIVE_SCALE, { exponent: -2, decades: 2 }, { exponent: 0, decades: 3 }]) {
      const values = Array.from({ length: 2_000 }, (_, i) => Math.fround(10 ** (scale.exponent - 1 + (i / 2_000) * (5 * scale.decades + 2))));
      classesOnScale(Float32Array.from(values), scale, 0).forEach((cls, i) => {
        const step = cls - FIRST_STEP;
        if (step > 0) expect(values[i]).toBeGreaterThanOrEqual(Math.fround(boundOf(scale, step)));
        if (step < 16) expect(values[i]).toBeLessThan(Math.fround(boundOf(scale, step + 1)));
      });
    }
  });

  it('begins a step at its bound, also where float32 has no such number', () => {
    expect(ranges([1e-5, 1e-4, 0.1, 1], RELATIVE_SCALE)).toEqual(['1e-5 – 2e-5', '1e-4 – 2e-4', '0.1 – 0.2', '≥ 1']);
  });

  it('is that of relative errors as long as they are no larger', () => {
    expect(scaleFor(Float32Array.from([0, 3e-6, 0.4, Infinity, Number.NaN]))).toEqual(RELATIVE_SCALE);
    expect(scaleFor(new Float32Array(0))).toEqual(RELATIVE_SCALE);
  });

  it('spreads over what is there where values are large', () => {
    expect(ranges([1, 64, 3_000_000])).toEqual(['1 – 3', '30 – 70', '3e6 – 1e7']);
    expect(new Set(ranges([0.01, 5, 4_000, 8e9, 2e14])).size).toBe(5);
  });

  it('leaves apart what was not measured, what is clean and what is not finite', () => {
    expect(ranges([Number.NaN, 0, 1e-3, Infinity], RELATIVE_SCALE, 1e-3)).toEqual(['none', 'clean', 'clean', 'nonfinite']);
  });

  it('can be cut off at none, at its bounds and below them', () => {
    const stops = thresholdStops(RELATIVE_SCALE);
    expect([stops[0], stops[1], stops[stops.length - 1]]).toEqual([0, 1e-7, 1]);
    expect(stops).toEqual([...stops].sort((a, b) => a - b));
    expect(stops.slice(0, 3).map(boundText)).toEqual(['0', '1e-7', '2e-7']);
  });
});
