import { describe, expect, it } from 'vitest';
import { colour, strongMask } from '../src/core/colouring';
import { EXPANDED, Folds, UNFOLDED, type OpenState } from '../src/core/folds';
import { boxWidth, CONTENT_LEFT, HEADER, insetLeft, insetRight, numberStays } from '../src/core/geometry';
import { arrange, longestIncreasing, type Layout, type Pane } from '../src/core/layout';
import { Names } from '../src/core/names';
import { fillRows, ROW_FOLD, ROW_OPEN, ROW_PILL, RowBuffer, rowShowing } from '../src/core/rows';
import { sideOf, type Graph, type Side, type SideName } from '../src/core/types';
import { graphOf, identity, outline, random, randomTree, transformer, type PairSpec } from './graphs';

const WIDTH = 600;

function foldsOf(graph: Graph): Folds {
  const colouring = colour(graph, 'cause', 0);
  return new Folds(graph, new Names(graph), colouring.target, colouring.golden, strongMask(colouring));
}

function closed(graph: Graph): OpenState {
  return { target: new Uint8Array(graph.target.count), golden: graph.golden ? new Uint8Array(graph.golden.count) : null };
}

function everythingOpen(graph: Graph): OpenState {
  return { target: new Uint8Array(graph.target.count).fill(EXPANDED), golden: graph.golden ? new Uint8Array(graph.golden.count).fill(EXPANDED) : null };
}

function layoutOf(graph: Graph, state: OpenState, microStep = -1, width = WIDTH): Layout {
  const folds = foldsOf(graph);
  const target = fillRows(new RowBuffer(graph.target.count), graph, 'target', state, folds, microStep);
  const golden = graph.golden ? fillRows(new RowBuffer(graph.golden.count), graph, 'golden', state, folds, microStep) : null;
  return arrange(graph, target, golden, { width, pillTextWidth: (_, node) => 30 + (node % 7) * 9 });
}

/** Rectangle of a row in layout units. */
function rectangle(pane: Pane, side: Side, row: number, width = WIDTH): { left: number; right: number; top: number; bottom: number } {
  const depth = side.depth[pane.rows.node[row]];
  if (pane.rows.flags[row] & ROW_PILL) {
    const left = (depth > 1 ? insetLeft(depth - 1, width) + CONTENT_LEFT : 0) + pane.pillX[row];
    return { left, right: left + pane.pillWidth[row], top: pane.top[row], bottom: pane.bottom[row] };
  }
  return { left: insetLeft(depth, width), right: insetLeft(depth, width) + boxWidth(depth, width), top: pane.top[row], bottom: pane.bottom[row] };
}

/** Every box inside its parent below the header, siblings apart, order kept. */
function checkInvariants(graph: Graph, layout: Layout): void {
  for (const which of ['target', 'golden'] as SideName[]) {
    const side = sideOf(graph, which);
    const pane = which === 'target' ? layout.target : layout.golden;
    if (!side || !pane) continue;
    const { rows } = pane;
    for (let row = 0; row < rows.count; row++) {
      const own = rectangle(pane, side, row);
      expect(own.bottom).toBeGreaterThan(own.top);
      if (row > 0) expect(pane.top[row]).toBeGreaterThanOrEqual(pane.top[row - 1]);
      const parentRow = rows.rowOf[side.parent[rows.node[row]]];
      if (side.parent[rows.node[row]] > 0) {
        const parent = rectangle(pane, side, parentRow);
        expect(own.top).toBeGreaterThanOrEqual(parent.top + HEADER);
        expect(own.bottom).toBeLessThanOrEqual(parent.bottom);
        expect(own.left).toBeGreaterThanOrEqual(parent.left);
        expect(own.right).toBeLessThanOrEqual(parent.right + 1e-6);
      }
      // The nearest rows that could touch: siblings before it on the page.
      for (let other = row - 1; other >= Math.max(0, row - 12); other--) {
        if (rows.node[row] < side.end[rows.node[other]] && rows.flags[other] & ROW_OPEN) continue; // encloses it
        const before = rectangle(pane, side, other);
        const apart = before.bottom <= own.top || before.right <= own.left || own.right <= before.left;
        expect(apart).toBe(true);
      }
    }
  }
}

function topOf(pane: Pane | null, node: number): number {
  return pane ? pane.top[pane.rows.rowOf[node]] : Number.NaN;
}

describe('layout', () => {
  it('takes widths of calls that are known already, and asks for the others only', () => {
    const graph = graphOf(outline('Module.a.A.forward.0\n  Functional.linear.0.forward\n  Functional.relu.0.forward'), null);
    const rows = fillRows(new RowBuffer(graph.target.count), graph, 'target', everythingOpen(graph), foldsOf(graph), -1);
    const asked: number[] = [];
    const known = new Uint16Array(graph.target.count);
    known[2] = 1 + 80;
    const { target } = arrange(graph, rows, null, { width: WIDTH, knownTextWidths: { target: known, golden: new Uint16Array(0) }, pillTextWidth: (_, node) => asked.push(node) && 40 });
    expect(asked).toEqual([3]);
    expect(target.pillWidth[1] - target.pillWidth[2]).toBe(40);
  });

  it('nests boxes, keeps call order and never lets two overlap, for any tree and any pairing', () => {
    for (let seed = 1; seed <= 40; seed++) {
      const next = random(seed);
      const target = randomTree(next, 5 + Math.floor(next() * 120));
      const golden = randomTree(next, 5 + Math.floor(next() * 120));
      const free = golden.map((_, i) => i + 1);
      const pairs: PairSpec[] = [];
      for (let node = 1; node <= target.length; node++) {
        if (next() < 0.6 && free.length > 0) pairs.push({ target: [node], golden: [free.splice(Math.floor(next() * Math.min(6, free.length)), 1)[0]] });
      }
      const graph = graphOf(target, golden, pairs);
      const state = closed(graph);
      for (let i = 0; i < state.target.length; i++) state.target[i] = next() < 0.7 ? EXPANDED : 0;
      for (let i = 0; i < (state.golden?.length ?? 0); i++) (state.golden as Uint8Array)[i] = next() < 0.7 ? EXPANDED : 0;
      checkInvariants(graph, layoutOf(graph, state));
    }
  });

  it('puts paired boxes at one height and makes paired containers equally tall', () => {
    const graph = graphOf(
      outline('Module.a.A.forward.0\n  Module.a.x.X.forward.0\n  Module.a.extra.E.forward.0\n  Module.a.y.Y.forward.0\nModule.b.B.forward.0'),
      outline('Module.a.A.forward.0\n  Module.a.x.X.forward.0\n  Module.a.y.Y.forward.0\nModule.b.B.forward.0'),
      [
        { target: [1], golden: [1] },
        { target: [2], golden: [2] },
        { target: [4], golden: [3] },
        { target: [5], golden: [4] },
      ],
    );
    const layout = layoutOf(graph, everythingOpen(graph));
    for (const [a, b] of [[1, 1], [2, 2], [4, 3], [5, 4]]) expect(topOf(layout.target, a)).toBe(topOf(layout.golden, b));
    expect(layout.target.bottom[0]).toBe(layout.golden?.bottom[0]);
    expect(layout.golden?.gaps).toHaveLength(1);
    expect(layout.golden?.gaps[0].count).toBe(1);
    expect(layout.target.gaps).toHaveLength(0);
  });

  it('aligns pairs whose containers differ: one toolkit wraps what the other does not', () => {
    const graph = graphOf(
      outline('Module.embedding.E.forward.0\nModule.decoder.D.forward.0\n  Module.decoder.first.L.forward.0\n  Module.decoder.second.M.forward.0\nModule.out.O.forward.0'),
      outline('Module.model.W.forward.0\n  Module.model.embed.E.forward.0\n  Module.model.first.L.forward.0\n  Module.model.second.M.forward.0\nModule.head.O.forward.0'),
      [
        { target: [1], golden: [2] },
        { target: [3], golden: [3] },
        { target: [4], golden: [4] },
        { target: [5], golden: [5] },
      ],
    );
    const layout = layoutOf(graph, everythingOpen(graph));
    for (const [a, b] of [[1, 2], [3, 3], [4, 4], [5, 5]]) expect(topOf(layout.target, a)).toBe(topOf(layout.golden, b));
  });

  it('starts a group at one height and what follows it as well', () => {
    const graph = graphOf(outline('Module.qkv.Q.forward.0\nModule.proj.P.forward.0'), outline('Module.q.L.forward.0\nModule.k.L.forward.0\nModule.v.L.forward.0\nModule.o.L.forward.0'), [
      { target: [1], golden: [1, 2, 3], relation: 1 },
      { target: [2], golden: [4] },
    ]);
    const layout = layoutOf(graph, closed(graph));
    expect(topOf(layout.target, 1)).toBe(topOf(layout.golden, 1));
    expect(topOf(layout.target, 2)).toBe(topOf(layout.golden, 4));
    expect(layout.target.gaps).toHaveLength(0); // nothing is missing: the group is longer on one side
  });

  it('puts paired calls into the same line of pills', () => {
    const calls = (n: number): string => Array.from({ length: n }, (_, i) => `Functional.op.${i}.forward`).join('\n');
    const graph = graphOf(outline(calls(40)), outline(calls(30)), identity(30, (node) => ({ golden: [node] })));
    const layout = layoutOf(graph, closed(graph), -1, 300);
    for (let node = 1; node <= 30; node++) expect(topOf(layout.target, node)).toBe(topOf(layout.golden, node));
    checkInvariants(graph, layoutOf(graph, closed(graph)));
  });

  it('is the same however one got there', () => {
    const next = random(7);
    const tree = randomTree(next, 300);
    const graph = graphOf(tree, tree, identity(300));
    const folds = foldsOf(graph);
    const buffers = { target: new RowBuffer(graph.target.count), golden: new RowBuffer(graph.target.count) };
    const state = closed(graph);
    for (let step = 0; step < 60; step++) {
      const node = 1 + Math.floor(next() * 299);
      state.target[node] ^= EXPANDED;
      (state.golden as Uint8Array)[node] ^= EXPANDED;
      const again = arrange(graph, fillRows(buffers.target, graph, 'target', state, folds, -1), fillRows(buffers.golden, graph, 'golden', state, folds, -1), { width: WIDTH, pillTextWidth: (_, n) => 30 + (n % 7) * 9 });
      const fresh = layoutOf(graph, state);
      expect([...again.target.top]).toEqual([...fresh.target.top]);
      expect([...again.target.bottom]).toEqual([...fresh.target.bottom]);
      expect([...again.target.rows.node]).toEqual([...fresh.target.rows.node]);
    }
  });

  it('holds a chain 10,000 deep: every box inside its parent and never narrower than a third', () => {
    const deep = Array.from({ length: 10_000 }, (_, i) => ({ depth: i + 1, name: `Module.m${i}.M.forward.0` }));
    const graph = graphOf(deep, null);
    const layout = layoutOf(graph, everythingOpen(graph));
    expect(layout.target.rows.count).toBe(10_000);
    for (const depth of [1, 2, 10, 100, 1_000, 10_000]) {
      expect(boxWidth(depth, WIDTH)).toBeGreaterThan(WIDTH / 3);
      expect(insetLeft(depth + 1, WIDTH)).toBeGreaterThanOrEqual(insetLeft(depth, WIDTH));
      expect(insetRight(depth + 1, WIDTH)).toBeGreaterThanOrEqual(insetRight(depth, WIDTH));
    }
  });

  it('shows one micro step when asked', () => {
    const graph = graphOf([{ depth: 1, name: 'Module.a.A.forward.0', micro: 0 }, { depth: 1, name: 'Module.a.A.forward.1', micro: 1 }], null);
    expect([...layoutOf(graph, closed(graph), 1).target.rows.node]).toEqual([2]);
    expect(rowShowing(layoutOf(graph, closed(graph), 1).target.rows, 1)).toBe(-1);
  });
});

describe('folding of repeats', () => {
  const layers = transformer(6, 2);
  const perLayer = (layers.length - 1) / 6;
  const layer = (k: number): number => 2 + k * perLayer;

  function rowsOf(graph: Graph, state: OpenState, which: SideName = 'target') {
    return fillRows(new RowBuffer((sideOf(graph, which) as Side).count), graph, which, state, foldsOf(graph), -1);
  }

  it('shows equal layers as one box', () => {
    const graph = graphOf(layers, null);
    const state = closed(graph);
    state.target[1] = EXPANDED;
    const rows = rowsOf(graph, state);
    expect([...rows.node]).toEqual([1, layer(0)]);
    expect(rows.flags[1]).toBe(ROW_FOLD);
    expect(rows.end[1]).toBe(graph.target.count);
    expect(rowShowing(rows, layer(4) + 2)).toBe(1);
  });

  it('leaves the layer with a cause outside, on both sides', () => {
    const graph = graphOf(layers, layers, identity(layers.length, (node) => (node === layer(2) + 2 ? { cause: 3, status: 3 } : {})));
    const state = closed(graph);
    state.target[1] = EXPANDED;
    (state.golden as Uint8Array)[1] = EXPANDED;
    for (const which of ['target', 'golden'] as SideName[]) {
      const rows = rowsOf(graph, state, which);
      expect([...rows.node]).toEqual([1, layer(0), layer(2), layer(3)]);
      expect([...rows.flags].slice(1)).toEqual([ROW_FOLD, 0, ROW_FOLD]);
    }
  });

  it('keeps what a person opened or unfolded, and its partner, outside', () => {
    const graph = graphOf(layers, layers, identity(layers.length));
    const state = closed(graph);
    state.target[1] = EXPANDED;
    (state.golden as Uint8Array)[1] = EXPANDED;
    state.target[layer(1)] = EXPANDED;
    (state.golden as Uint8Array)[layer(4)] = UNFOLDED;
    expect([...rowsOf(graph, state, 'golden').node]).toEqual([1, layer(0), layer(1), layer(2), layer(4), layer(5)]);
  });

  it('folds nothing where the other side has a gap in the series', () => {
    const five = transformer(5, 2);
    const pairs = identity(five.length).filter((pair) => pair.target[0] < layer(2) || pair.target[0] >= layer(3));
    const graph = graphOf(five, five, pairs);
    const state = closed(graph);
    state.target[1] = EXPANDED;
    (state.golden as Uint8Array)[1] = EXPANDED;
    expect([...rowsOf(graph, state).node]).toEqual([1, layer(0), layer(2), layer(3)]);
  });

  it('finds the whole series around a member', () => {
    const graph = graphOf(layers, null);
    expect(foldsOf(graph).seriesAround('target', layer(3))).toEqual({ first: layer(0), end: graph.target.count });
  });
});

describe('longest increasing subsequence', () => {
  it('is null for what increases already', () => {
    expect(longestIncreasing(Int32Array.from([1, 4, 9]))).toBeNull();
  });

  it('is increasing, and as long as the best of all subsequences', () => {
    for (let seed = 1; seed <= 60; seed++) {
      const next = random(seed);
      const values = Int32Array.from({ length: 2 + Math.floor(next() * 10) }, () => Math.floor(next() * 12));
      const kept = longestIncreasing(values) ?? Int32Array.from(values.keys());
      for (let i = 1; i < kept.length; i++) {
        expect(kept[i]).toBeGreaterThan(kept[i - 1]);
        expect(values[kept[i]]).toBeGreaterThan(values[kept[i - 1]]);
      }
      let best = 0;
      for (let mask = 0; mask < 1 << values.length; mask++) {
        const chosen = [...values].filter((_, i) => mask & (1 << i));
        if (chosen.every((value, i) => i === 0 || value > chosen[i - 1])) best = Math.max(best, chosen.length);
      }
      expect(kept.length).toBe(best);
    }
  });
});

describe('a number beside a title', () => {
  it('gives way to a title that it alone would cut', () => {
    expect(numberStays(100, 140, 40)).toBe(true);
    expect(numberStays(101, 140, 40)).toBe(false);
  });

  it('stays where the title is cut anyway, unless hardly any of it would be left', () => {
    expect(numberStays(3000, 140, 40)).toBe(true);
    expect(numberStays(3000, 100, 40)).toBe(false);
  });
});
