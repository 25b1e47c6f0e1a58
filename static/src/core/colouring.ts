/**
 * What colour means. Each mode turns the columns of a graph into one class a node (a byte) and a legend that says what
 * each class is; boxes, minimaps, layer strip and lists all draw from that, so that they cannot disagree.
 */
import { colourClass, type ColourClass } from './colour_class';
import { classColumn, type ClassColumn } from './counts';
import { classesOnScale, RELATIVE_SCALE, scaleClasses, scaleFor, type Scale } from './scale';
import { Cause, mayHaveCounterpart, Status, type Graph, type Side, type SideName } from './types';

export type PlainMode = 'cause' | 'status' | 'error' | 'inputError' | 'parameterError' | 'how' | 'overflow' | 'none';
/** `metric:NAME` colours by a metric of the elements (tensor mode), whose values are fetched when it is chosen. */
export type ColourMode = PlainMode | `metric:${string}`;
export const COLOUR_MODES: readonly PlainMode[] = ['cause', 'status', 'error', 'inputError', 'parameterError', 'how', 'overflow', 'none'];
export const NO_THRESHOLD = 0;

/** Class numbers are severities: of several classes in one place the largest is the worst. */
const CAUSE_CLASSES: readonly ColourClass[] = [
  colourClass('none', ''), // 0: nothing measured
  colourClass('clean', ''), // 1
  colourClass('expected', '✓'), // 2: marked by a person, while marks are hidden
  colourClass('recovered', '↘'), // 3
  colourClass('unmatched', '∅'), // 4
  colourClass('incomparable', '?'), // 5
  colourClass('inherited', '↓'), // 6
  colourClass('warning', '!'), // 7
  colourClass('amplified', '↗'), // 8
  colourClass('error', '✕'), // 9
  colourClass('introduced', '▲', true), // 10
  colourClass('parameter', '◆', true), // 11
];
export const CauseClass = { none: 0, clean: 1, expected: 2, recovered: 3, unmatched: 4, incomparable: 5, inherited: 6, warning: 7, amplified: 8, error: 9, introduced: 10, parameter: 11 } as const;

const STATUS_CLASSES: readonly ColourClass[] = [
  colourClass('none', ''),
  colourClass('clean', ''),
  colourClass('expected', '✓'), // the same number as of a cause
  colourClass('unmatched', '∅'),
  colourClass('incomparable', '?'),
  colourClass('warning', '!'),
  colourClass('error', '✕', true),
];

const HOW_CLASSES: readonly ColourClass[] = [
  colourClass('none', ''),
  colourClass('clean', ''), // exact
  colourClass('mapping', 'm'),
  colourClass('normalised', 'n'),
  colourClass('fuzzy', 'f'),
  colourClass('structural', 's'),
  colourClass('manual', '✎'),
  colourClass('unmatched', '∅'),
];

const OVERFLOW_CLASSES: readonly ColourClass[] = [
  colourClass('none', ''),
  colourClass('clean', ''),
  colourClass('overflow1', 'm'),
  colourClass('overflow2', 'h'),
  colourClass('overflow3', 'c', true),
];

export interface Colouring {
  readonly mode: ColourMode;
  readonly classes: readonly ColourClass[];
  readonly target: ClassColumn;
  readonly golden: ClassColumn | null;
  readonly scale: Scale | null; // of a metric
  readonly values: Float32Array; // per pair: the number that stands beside a box, NaN = none
}

export function isMetric(mode: string): mode is `metric:${string}` {
  return mode.startsWith('metric:') && mode.length > 7;
}

export function columnOf(colouring: Colouring, side: SideName): ClassColumn | null {
  return side === 'target' ? colouring.target : colouring.golden;
}

/** How a node is drawn; class 0 on a side that has no colours. */
export function classOf(colouring: Colouring, side: SideName, node: number): ColourClass {
  return colouring.classes[columnOf(colouring, side)?.classes[node] ?? 0];
}

/** One class a pair; `unmatchedClass` for nodes without one. A build has no pairs: its nodes are class 0. */
function spread(side: Side, perPair: Uint8Array, unmatchedClass: number, build: boolean): ClassColumn {
  const classes = new Uint8Array(side.count);
  const { pair, kind } = side;
  if (!build) {
    for (let node = 1; node < side.count; node++) {
      const p = pair[node];
      classes[node] = p >= 0 ? perPair[p] : mayHaveCounterpart(kind[node]) ? unmatchedClass : 0;
    }
  }
  return classColumn(classes);
}

/** Whether any pair was judged at all; structure dumps have pairs but no numbers. */
export function isMeasured(status: Uint8Array): boolean {
  return status.some((value) => value === Status.pass || value === Status.warning || value === Status.error);
}

export function causeClasses(status: Uint8Array, cause: Uint8Array, measured = isMeasured(status)): Uint8Array {
  const result = new Uint8Array(status.length);
  const byCause = new Uint8Array(8);
  byCause[Cause.clean] = CauseClass.clean;
  byCause[Cause.parameter] = CauseClass.parameter;
  byCause[Cause.introduced] = CauseClass.introduced;
  byCause[Cause.amplified] = CauseClass.amplified;
  byCause[Cause.inherited] = CauseClass.inherited;
  byCause[Cause.recovered] = CauseClass.recovered;
  for (let p = 0; p < status.length; p++) {
    let value = byCause[cause[p] & 7];
    if (value <= CauseClass.clean) {
      const s = status[p];
      if (s === Status.notComparable) value = measured ? CauseClass.incomparable : CauseClass.none;
      else if (s === Status.warning) value = CauseClass.warning;
      else if (s === Status.error) value = CauseClass.error;
      else if (s === Status.pass) value = CauseClass.clean;
    }
    result[p] = value;
  }
  return result;
}

/** Hidden pairs become the class `expected`, which has one number in every colouring that says how much differs. */
function withoutHidden(classes: Uint8Array, hidden: Uint8Array | null): Uint8Array {
  if (hidden) for (let p = 0; p < classes.length; p++) if (hidden[p] !== 0 && classes[p] > CauseClass.clean) classes[p] = CauseClass.expected;
  return classes;
}

/** Modes that the data of a graph can serve. */
export function availableModes(graph: Graph): PlainMode[] {
  const compared = graph.golden !== null;
  const measured = isMeasured(graph.verdicts.status);
  return COLOUR_MODES.filter((mode) => {
    if (mode === 'none') return true;
    if (mode === 'overflow') return graph.target.overflow !== null;
    if (mode === 'how') return compared;
    return compared && measured;
  });
}

/** `metric`: per pair, for a mode `metric:NAME`; null while it is being fetched. `hidden`: pairs that marks explain, not 0. */
export function colour(graph: Graph, mode: ColourMode, threshold: number, metric: Float32Array | null = null, hidden: Uint8Array | null = null): Colouring {
  const build = graph.golden === null;
  const { status, cause, error } = graph.verdicts;
  const make = (classes: readonly ColourClass[], perPair: Uint8Array, unmatched: number, values = error, scale: Scale | null = null): Colouring => ({
    mode,
    classes,
    target: spread(graph.target, perPair, unmatched, build),
    golden: graph.golden ? spread(graph.golden, perPair, unmatched, build) : null,
    scale,
    values,
  });
  const scaled = (values: Float32Array, scale: Scale): Colouring => make(scaleClasses(scale), withoutHidden(classesOnScale(values, scale, threshold), hidden), 3, values, scale);
  if (isMetric(mode)) {
    const values = metric ?? new Float32Array(status.length).fill(Number.NaN);
    return scaled(values, scaleFor(values));
  }
  switch (mode) {
    case 'cause':
      return make(CAUSE_CLASSES, withoutHidden(causeClasses(status, cause), hidden), CauseClass.unmatched);
    case 'status': {
      const perPair = status.map((s) => (s === Status.pass ? 1 : s === Status.warning ? 5 : s === Status.error ? 6 : s === Status.notComparable ? 4 : 0));
      return make(STATUS_CLASSES, withoutHidden(perPair, hidden), 3);
    }
    case 'error':
    case 'inputError':
    case 'parameterError':
      return scaled(graph.verdicts[mode], RELATIVE_SCALE);
    case 'how':
      return make(HOW_CLASSES, graph.pairs.how.map((how) => how + 1), 7);
    case 'overflow': {
      const classesOf = (side: Side): ClassColumn => classColumn(side.overflow ? side.overflow.map((level) => level + 1) : new Uint8Array(side.count));
      return { mode, classes: OVERFLOW_CLASSES, target: classesOf(graph.target), golden: graph.golden ? classesOf(graph.golden) : null, scale: null, values: error };
    }
    case 'none': {
      const nothing = (side: Side): ClassColumn => classColumn(new Uint8Array(side.count));
      return { mode, classes: [colourClass('none', '')], target: nothing(graph.target), golden: graph.golden ? nothing(graph.golden) : null, scale: null, values: error };
    }
  }
}

/** Bit mask of the classes that count as causes. */
export function strongMask(colouring: Colouring): number {
  return colouring.classes.reduce((mask, item, i) => (item.strong ? mask | (1 << i) : mask), 0);
}
