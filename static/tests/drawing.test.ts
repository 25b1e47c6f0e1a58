import { describe, expect, it } from 'vitest';
import { bringIntoView, clampCamera, smallestScale, toLayout, toWindow, zoomAt, type Camera } from '../src/core/camera';
import { CauseClass, colour, strongMask } from '../src/core/colouring';
import { CLASS_LIMIT, classColumn, countRange, firstInRange } from '../src/core/counts';
import { collect, pick, rowRectangle, shares } from '../src/core/drawlist';
import { EXPANDED, Folds } from '../src/core/folds';
import { arrange, type Layout } from '../src/core/layout';
import { minimap, nodeAt } from '../src/core/minimap';
import { Names } from '../src/core/names';
import { fillRows, RowBuffer } from '../src/core/rows';
import type { Graph } from '../src/core/types';
import { graphOf, random, transformer, type NodeSpec } from './graphs';

const WINDOW = { x: 12, width: 600, height: 800 };

function openLayout(graph: Graph): Layout {
  const colouring = colour(graph, 'cause', 0);
  const folds = new Folds(graph, new Names(graph), colouring.target, colouring.golden, strongMask(colouring));
  const state = { target: new Uint8Array(graph.target.count).fill(EXPANDED), golden: null };
  return arrange(graph, fillRows(new RowBuffer(graph.target.count), graph, 'target', state, folds, -1), null, { width: WINDOW.width, pillTextWidth: () => 50 });
}

function at(scroll: number, scale = 1): Camera {
  return { scroll, scale, goldenShift: 0 };
}

describe('draw list', () => {
  const wide: NodeSpec[] = [{ depth: 1, name: 'Module.optimizer.O.forward.0' }, ...Array.from({ length: 10_000 }, (_, i) => ({ depth: 2, name: `Functional.op.${i}.forward` }))];
  const deep: NodeSpec[] = Array.from({ length: 10_000 }, (_, i) => ({ depth: i + 1, name: `Module.m${i}.M.forward.0` }));

  it('is bounded by the window at every scale, for wide, deep and large graphs', () => {
    for (const nodes of [wide, deep, transformer(400, 120)]) {
      const graph = graphOf(nodes, null);
      const layout = openLayout(graph);
      for (const scale of [2, 1, 0.5, 0.34, 0.33, 0.1, 0.01, smallestScale(layout.height, WINDOW.height)]) {
        for (const part of [0, 0.3, 0.99]) {
          const list = collect(layout.target, graph.target, 'target', WINDOW.width, at(layout.height * part, scale), WINDOW);
          expect(list.boxes.length + list.pills.length + list.strips.length).toBeLessThan(5_000);
        }
      }
    }
  });

  it('shows everything of the graph in the overview: the strips cover all nodes', () => {
    const graph = graphOf(transformer(100, 40), null);
    const layout = openLayout(graph);
    const list = collect(layout.target, graph.target, 'target', WINDOW.width, at(0, smallestScale(layout.height, WINDOW.height)), WINDOW);
    expect(list.strips[0].from).toBe(1);
    expect(list.strips[list.strips.length - 1].to).toBe(graph.target.count);
    for (let i = 1; i < list.strips.length; i++) expect(list.strips[i].from).toBe(list.strips[i - 1].to);
  });

  it('contains the containers around the window, outermost first', () => {
    const graph = graphOf(wide, null);
    const layout = openLayout(graph);
    const list = collect(layout.target, graph.target, 'target', WINDOW.width, at(5_000), WINDOW);
    expect(list.boxes.map((box) => box.node)).toEqual([1]);
    expect(list.pills.length).toBeGreaterThan(50);
  });

  it('cuts rectangles that reach far beyond the window', () => {
    const graph = graphOf(transformer(400, 120), null);
    const layout = openLayout(graph);
    const list = collect(layout.target, graph.target, 'target', WINDOW.width, at(layout.height / 2), WINDOW);
    for (const box of list.boxes) expect(box.height).toBeLessThan(50_000);
  });

  it('finds by a point what is drawn there', () => {
    const graph = graphOf(transformer(5, 9), null);
    const layout = openLayout(graph);
    const camera = at(120);
    const list = collect(layout.target, graph.target, 'target', WINDOW.width, camera, WINDOW);
    for (const pill of list.pills) {
      const row = pick(layout.target, graph.target, 'target', WINDOW.width, camera, WINDOW, pill.x + pill.width / 2, pill.y + pill.height / 2);
      expect(row).toBe(pill.row);
    }
    for (const box of list.boxes.filter((item) => item.y > 0)) {
      expect(pick(layout.target, graph.target, 'target', WINDOW.width, camera, WINDOW, box.x + 3, box.y + 5)).toBe(box.row);
    }
    expect(pick(layout.target, graph.target, 'target', WINDOW.width, camera, WINDOW, 2, 100)).toBeNull();
  });

  it('gives the same rectangle one by one as in the list', () => {
    const graph = graphOf(transformer(3, 4), null);
    const layout = openLayout(graph);
    const list = collect(layout.target, graph.target, 'target', WINDOW.width, at(0), WINDOW);
    for (const item of [...list.boxes, ...list.pills]) expect(rowRectangle(layout.target, graph.target, 'target', item.row, WINDOW.width, at(0), WINDOW)).toEqual(item);
  });
});

describe('counts of classes', () => {
  const next = random(3);
  const classes = Uint8Array.from({ length: 1_000 }, () => Math.floor(next() * 9));
  const column = classColumn(classes);

  it('equal counting one by one, for any range', () => {
    const counts = new Uint32Array(CLASS_LIMIT);
    for (let i = 0; i < 300; i++) {
      const from = Math.floor(next() * 1_000);
      const to = from + Math.floor(next() * (1_001 - from));
      countRange(column, from, to, counts);
      const plain = new Uint32Array(CLASS_LIMIT);
      for (let k = from; k < to; k++) plain[classes[k]]++;
      expect([...counts]).toEqual([...plain]);
    }
  });

  it('find the first node of a class, skipping blocks without one', () => {
    for (let i = 0; i < 200; i++) {
      const from = Math.floor(next() * 1_000);
      const mask = 1 << Math.floor(next() * 12);
      const plain = classes.findIndex((cls, k) => k >= from && (mask & (1 << cls)) !== 0);
      expect(firstInRange(column, from, 1_000, mask)).toBe(plain);
    }
  });

  it('become shares with the worst first', () => {
    const found = shares(classColumn(Uint8Array.from([1, 1, 5, 9])), 0, 4);
    expect(found.map(({ cls, share }) => [cls, share])).toEqual([[9, 0.25], [5, 0.25], [1, 0.5]]);
  });
});

describe('minimap', () => {
  it('shows density instead of the worst, yet never loses a single cause', () => {
    const nodes = transformer(40, 60);
    const bad = 1_234;
    const graph = graphOf(nodes, nodes, nodes.map((_, i) => ({ target: [i + 1], golden: [i + 1], ...(i + 1 === bad ? { cause: 2, status: 3 } : {}) })));
    const colouring = colour(graph, 'cause', 0);
    const segments = minimap(colouring.target, colouring, 300, 1, graph.target.count);
    const causes = segments.filter((segment) => segment.cls === CauseClass.parameter);
    expect(causes).toHaveLength(1);
    expect(causes[0].width).toBeGreaterThanOrEqual(0.3);
    expect(Math.abs(nodeAt(causes[0].y, 300, graph.target.count) - bad)).toBeLessThan(graph.target.count / 100);
    const clean = segments.filter((segment) => segment.cls === CauseClass.clean && segment.width === 1);
    expect(clean.length).toBeGreaterThan(140);
  });
});

describe('camera', () => {
  it('keeps the point under the mouse while zooming', () => {
    const camera = at(500);
    const zoomed = zoomAt(camera, 0.5, 300);
    expect(toLayout(zoomed, 'target', 300)).toBeCloseTo(toLayout(camera, 'target', 300));
    expect(zoomed.scale).toBe(0.5);
  });

  it('goes from the overview to twice the reading size and no further', () => {
    expect(clampCamera(at(0, 1e-9), 22_800_000, 800).scale).toBe(smallestScale(22_800_000, 800));
    expect(clampCamera(at(0, 10), 2_000, 800).scale).toBe(2);
  });

  it('does not scroll past the ends', () => {
    expect(clampCamera(at(-500), 2_000, 800).scroll).toBe(-12);
    expect(clampCamera(at(5_000), 2_000, 800).scroll).toBe(1_212);
    expect(clampCamera(at(300), 200, 800).scroll).toBe(-12);
  });

  it('moves only the golden side by its shift', () => {
    const camera = { scroll: 100, scale: 1, goldenShift: 40 };
    expect(toWindow(camera, 'target', 150)).toBe(50);
    expect(toWindow(camera, 'golden', 150)).toBe(90);
    expect(toLayout(camera, 'golden', 90)).toBe(150);
  });

  it('scrolls no further than needed to show something', () => {
    expect(bringIntoView(at(0), 300, 330, 800, false).scroll).toBe(0);
    expect(bringIntoView(at(0), 900, 930, 800, false).scroll).toBe(178);
    expect(bringIntoView(at(900), 300, 330, 800, false).scroll).toBe(252);
  });
});
