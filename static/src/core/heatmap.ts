/** The grid of a tensor's differences (docs/http_api.md, GET heatmap): decoding, colours, and what one cell says. */
import { bytesOf } from './base64';
import type { DetailRow, LeafView } from './details';
import { LEAF } from './details';

/** As the server answers; arrays are base64 of little-endian numbers, row by row. */
export interface HeatmapAnswer {
  readonly shape: readonly number[];
  readonly tokens: number;
  readonly channels: number;
  readonly rows: number;
  readonly columns: number;
  readonly largest: string;
  readonly mean: string;
  readonly target: string;
  readonly golden: string;
  readonly worst: string;
  readonly marks: string;
  readonly differing: number;
  readonly scale: number;
  readonly worst_cell: number;
  readonly worst_index: readonly number[];
  readonly worst_target: string;
  readonly worst_golden: string;
  readonly worst_difference: string;
  readonly layout: string;
}

export interface Heatmap {
  readonly shape: readonly number[];
  readonly tokens: number;
  readonly channels: number;
  readonly rows: number;
  readonly columns: number;
  readonly largest: Float32Array; // largest |target - golden| of a cell; infinite where only one side is a number
  readonly mean: Float32Array; // of target - golden; NaN where no element is a number on both sides
  readonly target: Float32Array; // values of the cell's worst element
  readonly golden: Float32Array;
  readonly worst: Float64Array; // its number, in C order
  readonly marks: Uint8Array;
  readonly differing: number;
  readonly scale: number; // golden's root mean square
  readonly worstCell: number; // -1 = the tensor is empty
  readonly worstIndex: readonly number[];
  readonly worstTarget: number;
  readonly worstGolden: number;
  readonly worstDifference: number;
  readonly layout: string;
}

/** Bits of `marks`. */
export const MARK = { target: 1, golden: 2, mismatch: 4 } as const;

export function decodeHeatmap(answer: HeatmapAnswer): Heatmap {
  const floats = (text: string): Float32Array => new Float32Array(bytesOf(text).buffer);
  return {
    shape: answer.shape,
    tokens: answer.tokens,
    channels: answer.channels,
    rows: answer.rows,
    columns: answer.columns,
    largest: floats(answer.largest),
    mean: floats(answer.mean),
    target: floats(answer.target),
    golden: floats(answer.golden),
    worst: new Float64Array(bytesOf(answer.worst).buffer),
    marks: bytesOf(answer.marks),
    differing: answer.differing,
    scale: answer.scale,
    worstCell: answer.worst_cell,
    worstIndex: answer.worst_index,
    worstTarget: Number(answer.worst_target),
    worstGolden: Number(answer.worst_golden),
    worstDifference: Number(answer.worst_difference),
    layout: answer.layout,
  };
}

/** Tensor files of one side of a row: "12.0" (node.leaf), "17.1,18.1,19.1" for a fused one; null where there is none. */
function operandOf(leaf: LeafView | null): string | null {
  if (!leaf || leaf.kind !== LEAF.tensor) return null;
  const parts = leaf.parts.length > 0 ? leaf.parts : [leaf];
  if (parts.some((part) => !part.dataName || part.dataName === '-1')) return null;
  return parts.map((part) => `${part.node}.${part.ordinal}`).join(',');
}

/** What to ask the server for a row; null where a side has no tensor file. */
export function heatmapRequest(row: DetailRow): Record<string, string> | null {
  const target = operandOf(row.target);
  const golden = operandOf(row.golden);
  if (target === null || golden === null) return null;
  const relation = row.golden?.relation || row.target?.relation || '';
  return { target, golden, ...(relation ? { relation } : {}), ...(row.layout ? { layout: row.layout } : {}) };
}

/** First token (or channel) of a cell and the one behind its last; `extent` of them stand in `cells` cells. */
export function cellRange(extent: number, cells: number, cell: number): [number, number] {
  return [Math.floor((extent * cell) / cells), Math.floor((extent * (cell + 1)) / cells)];
}

/** Element number (C order) as an index into a shape. */
export function elementIndex(shape: readonly number[], number: number): number[] {
  const index = new Array<number>(shape.length);
  let rest = number;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    index[axis] = rest % shape[axis];
    rest = Math.floor(rest / shape[axis]);
  }
  return index;
}

export type HeatmapView = 'largest' | 'mean';

/** From where to where the colours go. `logarithmic`: each step of colour is one factor; else as many as the numbers. */
export interface ColourScale {
  readonly view: HeatmapView;
  readonly low: number;
  readonly high: number;
}

const DECADES = 4; // below the largest difference; what is smaller still differs and has the first colour

/** Largest differences are drawn by their logarithm, means from -high to high. An even tensor has low = high. */
export function colourScale(map: Heatmap, view: HeatmapView): ColourScale {
  let high = 0;
  let low = Infinity;
  for (const value of view === 'largest' ? map.largest : map.mean) {
    const size = Math.abs(value);
    if (!Number.isFinite(size) || size === 0) continue;
    high = Math.max(high, size);
    low = Math.min(low, size);
  }
  if (view === 'mean') return { view, low: -high, high };
  return { view, low: high > 0 ? Math.max(low, high * 10 ** -DECADES) : 0, high };
}

/** 0 to 1 along the colours; -1 = equal, 2 = no number (infinite or NaN). */
export function colourPlace(scale: ColourScale, value: number): number {
  if (!Number.isFinite(value)) return 2;
  if (scale.view === 'mean') return scale.high === 0 ? 0.5 : 0.5 + value / scale.high / 2;
  if (value === 0) return -1;
  if (scale.low >= scale.high) return 1;
  return Math.min(1, Math.max(0, Math.log(value / scale.low) / Math.log(scale.high / scale.low)));
}

/** Value in the middle of the legend. */
export function scaleMiddle(scale: ColourScale): number {
  return scale.view === 'mean' ? 0 : Math.sqrt(scale.low * scale.high);
}

type Stops = readonly (readonly [number, number, number])[];

// One hue that only gets darker (on a dark page: lighter), so it reads the same with any colour vision and in print; the
// two-sided scale goes from blue over the page's own grey to orange, which no common colour blindness confuses.
const SEQUENTIAL: Readonly<Record<'light' | 'dark', Stops>> = {
  light: [[214, 228, 241], [150, 190, 223], [84, 142, 196], [33, 90, 153], [8, 40, 92]],
  dark: [[38, 58, 82], [48, 92, 143], [74, 134, 196], [132, 183, 230], [224, 240, 255]],
};
const TWO_SIDED: Readonly<Record<'light' | 'dark', Stops>> = {
  light: [[24, 82, 148], [122, 170, 214], [240, 240, 238], [238, 172, 112], [166, 84, 12]],
  dark: [[126, 182, 238], [58, 98, 146], [44, 48, 54], [148, 92, 42], [246, 170, 96]],
};

export interface Palette {
  readonly colours: Uint8ClampedArray; // 256 × RGBA
  readonly equal: readonly [number, number, number];
  readonly noNumber: readonly [number, number, number];
}

export function palette(view: HeatmapView, dark: boolean): Palette {
  const stops = (view === 'mean' ? TWO_SIDED : SEQUENTIAL)[dark ? 'dark' : 'light'];
  const colours = new Uint8ClampedArray(256 * 4);
  for (let i = 0; i < 256; i++) {
    const at = (i / 255) * (stops.length - 1);
    const stop = Math.min(stops.length - 2, Math.floor(at));
    for (let k = 0; k < 3; k++) colours[i * 4 + k] = stops[stop][k] + (stops[stop + 1][k] - stops[stop][k]) * (at - stop);
    colours[i * 4 + 3] = 255;
  }
  return { colours, equal: dark ? [29, 32, 37] : [255, 255, 255], noNumber: dark ? [197, 107, 219] : [139, 20, 110] };
}

/** One pixel a cell, RGBA. */
export function heatmapPixels(map: Heatmap, scale: ColourScale, colours: Palette): Uint8ClampedArray<ArrayBuffer> {
  const values = scale.view === 'largest' ? map.largest : map.mean;
  const pixels = new Uint8ClampedArray(values.length * 4);
  for (let cell = 0; cell < values.length; cell++) {
    const place = map.marks[cell] & MARK.mismatch ? 2 : colourPlace(scale, values[cell]);
    if (place >= 0 && place <= 1) {
      const at = Math.round(place * 255) * 4;
      for (let k = 0; k < 3; k++) pixels[cell * 4 + k] = colours.colours[at + k];
    } else pixels.set(place < 0 ? colours.equal : colours.noNumber, cell * 4);
    pixels[cell * 4 + 3] = 255;
  }
  return pixels;
}

/** The cell under a place of the drawn map, whose size is given; -1 = outside. */
export function cellAt(map: Heatmap, x: number, y: number, width: number, height: number): number {
  const column = Math.floor((x / width) * map.columns);
  const row = Math.floor((y / height) * map.rows);
  return column >= 0 && column < map.columns && row >= 0 && row < map.rows ? row * map.columns + column : -1;
}

/** The cell that a key leads to; null for other keys. */
export function cellByKey(map: Heatmap, from: number, key: string): number | null {
  if (map.worstCell < 0) return null;
  const at = from < 0 ? map.worstCell : from;
  const row = Math.floor(at / map.columns);
  const column = at % map.columns;
  const go = (r: number, c: number): number => Math.min(map.rows - 1, Math.max(0, r)) * map.columns + Math.min(map.columns - 1, Math.max(0, c));
  switch (key) {
    case 'ArrowUp':
      return go(row - 1, column);
    case 'ArrowDown':
      return go(row + 1, column);
    case 'ArrowLeft':
      return go(row, column - 1);
    case 'ArrowRight':
      return go(row, column + 1);
    case 'PageUp':
      return go(row - 16, column);
    case 'PageDown':
      return go(row + 16, column);
    case 'Home':
      return map.worstCell;
    default:
      return null;
  }
}
