import { describe, expect, it } from 'vitest';
import type { DetailRow, LeafView } from '../src/core/details';
import {
  cellAt, cellByKey, cellRange, colourPlace, colourScale, decodeHeatmap, elementIndex, heatmapPixels, heatmapRequest, MARK, palette,
  scaleMiddle, type Heatmap, type HeatmapAnswer,
} from '../src/core/heatmap';

const base64 = (numbers: ArrayLike<number>, kind: typeof Float32Array | typeof Float64Array | typeof Uint8Array): string =>
  btoa(String.fromCharCode(...new Uint8Array(kind.from(numbers as number[]).buffer)));

function answerOf(largest: number[][], more: Partial<HeatmapAnswer> = {}): HeatmapAnswer {
  const flat = largest.flat();
  const [rows, columns] = [largest.length, largest[0].length];
  return {
    shape: [rows, columns], tokens: rows, channels: columns, rows, columns,
    largest: base64(flat, Float32Array),
    mean: base64(flat.map((value) => -value), Float32Array),
    target: base64(flat, Float32Array),
    golden: base64(flat.map(() => 0), Float32Array),
    worst: base64(flat.map((_, i) => i), Float64Array),
    marks: base64(flat.map(() => 0), Uint8Array),
    differing: flat.filter((value) => value !== 0).length,
    scale: 1, worst_cell: flat.indexOf(Math.max(...flat)), worst_index: [0, 0], worst_target: '1.5', worst_golden: '-Infinity', worst_difference: 'NaN', layout: '',
    ...more,
  };
}

const mapOf = (largest: number[][], more?: Partial<HeatmapAnswer>): Heatmap => decodeHeatmap(answerOf(largest, more));

function leaf(fields: Partial<LeafView>): LeafView {
  return { node: 1, ordinal: 0, kind: 0, dataName: 'a.pt', parts: [], relation: '', ...fields } as LeafView;
}
const row = (target: LeafView | null, golden: LeafView | null, layout = ''): DetailRow => ({ target, golden, layout }) as DetailRow;

describe('a map from the server', () => {
  it('has numbers of every kind', () => {
    const map = mapOf([[0, 2, Infinity]], { worst: base64([0, 2 ** 40, 7], Float64Array) });
    expect([...map.largest]).toEqual([0, 2, Infinity]);
    expect(map.worst[1]).toBe(2 ** 40);
    expect([map.worstTarget, map.worstGolden, map.worstDifference]).toEqual([1.5, -Infinity, Number.NaN]);
  });
});

describe('what is asked for', () => {
  it('is a row by its tensors, with all parts of a fused one and its layout', () => {
    const parts = [17, 18, 19].map((node) => leaf({ node, ordinal: 1 }));
    expect(heatmapRequest(row(leaf({ node: 12 }), leaf({ node: 17, dataName: null, parts, relation: 'concat' }), 'golden stacked: q, k, v'))).toEqual({
      target: '12.0', golden: '17.1,18.1,19.1', relation: 'concat', layout: 'golden stacked: q, k, v',
    });
    expect(heatmapRequest(row(leaf({ node: 3, ordinal: 2 }), leaf({ node: 4 })))).toEqual({ target: '3.2', golden: '4.0' });
  });

  it('is nothing where a side has no tensor file', () => {
    expect(heatmapRequest(row(leaf({}), null))).toBeNull();
    expect(heatmapRequest(row(leaf({}), leaf({ dataName: '-1' })))).toBeNull();
    expect(heatmapRequest(row(leaf({ kind: 1 }), leaf({})))).toBeNull();
    expect(heatmapRequest(row(leaf({}), leaf({ parts: [leaf({}), leaf({ dataName: null })] })))).toBeNull();
  });
});

describe('places', () => {
  it('of cells cover every token once', () => {
    for (const [extent, cells] of [[700, 256], [256, 256], [5, 3], [1, 1]]) {
      const ends = Array.from({ length: cells }, (_, cell) => cellRange(extent, cells, cell));
      expect(ends[0][0]).toBe(0);
      expect(ends[cells - 1][1]).toBe(extent);
      for (let cell = 1; cell < cells; cell++) expect(ends[cell][0]).toBe(ends[cell - 1][1]);
    }
  });

  it('of elements are told in the shape of the tensor', () => {
    expect(elementIndex([16, 2, 128], 9 * 256 + 128 + 5)).toEqual([9, 1, 5]);
    expect(elementIndex([], 0)).toEqual([]);
  });

  it('under the mouse are cells, outside none', () => {
    const map = mapOf([[0, 1, 2], [3, 4, 5]]);
    expect([cellAt(map, 0, 0, 300, 100), cellAt(map, 299, 99, 300, 100), cellAt(map, 150, 60, 300, 100)]).toEqual([0, 5, 4]);
    expect([cellAt(map, -1, 5, 300, 100), cellAt(map, 300, 5, 300, 100), cellAt(map, 5, 100, 300, 100)]).toEqual([-1, -1, -1]);
  });

  it('are reached with keys, and the border stops them', () => {
    const map = mapOf([[0, 1, 2], [3, 9, 5]]);
    expect(cellByKey(map, -1, 'ArrowUp')).toBe(1); // from the worst one
    expect([cellByKey(map, 0, 'ArrowLeft'), cellByKey(map, 0, 'ArrowRight'), cellByKey(map, 2, 'ArrowDown'), cellByKey(map, 5, 'PageDown')]).toEqual([0, 1, 5, 5]);
    expect([cellByKey(map, 0, 'Home'), cellByKey(map, 0, 'n')]).toEqual([4, null]);
  });
});

describe('colours', () => {
  it('tell differences by their logarithm, four decades deep, and equality apart', () => {
    const map = mapOf([[0, 1e-9, 0.01, 1]]);
    const scale = colourScale(map, 'largest');
    expect([scale.low, scale.high]).toEqual([expect.closeTo(1e-4, 10), 1]);
    expect([...map.largest].map((value) => colourPlace(scale, value))).toEqual([-1, 0, expect.closeTo(0.5), 1]);
    expect(scaleMiddle(scale)).toBeCloseTo(0.01);
  });

  it('begin with the smallest difference where that is larger', () => {
    const scale = colourScale(mapOf([[0.5, 1]]), 'largest');
    expect([scale.low, scale.high]).toEqual([0.5, 1]);
  });

  it('tell means by sign, zero in the middle', () => {
    const scale = colourScale(mapOf([[0, 2, 4]]), 'mean');
    expect([-4, 0, 4].map((value) => colourPlace(scale, value))).toEqual([0, 0.5, 1]);
  });

  it('need no difference at all', () => {
    const map = mapOf([[0, 0]]);
    for (const view of ['largest', 'mean'] as const) {
      const place = colourPlace(colourScale(map, view), 0);
      expect(place).toBe(view === 'mean' ? 0.5 : -1);
    }
    expect(colourPlace(colourScale(mapOf([[3, 3]]), 'largest'), 3)).toBe(1);
  });

  it('of elements that are no number on one side are of their own, in both views', () => {
    const map = mapOf([[Infinity, 1]], { marks: base64([MARK.target | MARK.mismatch, 0], Uint8Array), mean: base64([Number.NaN, 1], Float32Array) });
    const { noNumber } = palette('largest', false);
    for (const view of ['largest', 'mean'] as const) expect([...heatmapPixels(map, colourScale(map, view), palette(view, false))].slice(0, 3)).toEqual([...noNumber]);
  });

  it('only get darker on a light page and lighter on a dark one, so that they read without hue', () => {
    const light = (rgb: ArrayLike<number>): number => 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
    for (const dark of [false, true]) {
      const { colours } = palette('largest', dark);
      const lightness = Array.from({ length: 256 }, (_, i) => light(colours.subarray(i * 4, i * 4 + 3)));
      for (let i = 1; i < 256; i++) expect(dark ? lightness[i] - lightness[i - 1] : lightness[i - 1] - lightness[i]).toBeGreaterThan(-0.9); // rounding
      expect(Math.abs(lightness[255] - lightness[0])).toBeGreaterThan(150);
    }
  });
});
