/** What belongs to a hand-made match besides the two nodes: the calls of the other direction, and what lies inside. Pure. */

import { Direction, NodeKind, NO_CALL, type Graph, type Side } from './types';

const HEAD = /^(.*\.)(forward|backward)(\.)$/s;
const TAIL = /^(\.)(forward|backward)(.*)$/s;

/** Text of a call apart from its direction: the same for a forward call and its backward call. */
function withoutDirection(graph: Graph, side: Side, node: number): string | null {
  if (side.call[node] === NO_CALL) return null;
  const head = graph.strings.get(side.head[node]);
  const tail = graph.strings.get(side.tail[node]);
  const inHead = HEAD.exec(head);
  if (inHead) return JSON.stringify([inHead[1], side.call[node], tail]);
  const inTail = TAIL.exec(tail);
  return inTail ? JSON.stringify([head, side.call[node], inTail[3]]) : null;
}

/** Finds the call of the other direction of any node of a side; made once, looked up often. */
export function twinFinder(graph: Graph, side: Side): (node: number) => number {
  let known: Map<string, number[]> | null = null;
  return (node) => {
    const text = withoutDirection(graph, side, node);
    if (text === null) return -1;
    if (!known) {
      known = new Map();
      for (let other = 1; other < side.count; other++) {
        const key = side.direction[other] === Direction.none ? null : withoutDirection(graph, side, other);
        if (key === null) continue;
        const list = known.get(key);
        if (list) list.push(other);
        else known.set(key, [other]);
      }
    }
    return known.get(text)?.find((other) => side.direction[other] !== side.direction[node]) ?? -1;
  };
}

function children(side: Side, node: number): number[] {
  const found: number[] = [];
  for (let child = node + 1; child < side.end[node]; child = side.end[child]) found.push(child);
  return found;
}

/** What two children must share to be one another's counterpart for certain: kind, direction, and name or class. */
function keys(graph: Graph, side: Side, node: number): [string, string, string] {
  const base = `${side.kind[node]}|${side.direction[node]}|`;
  const head = graph.strings.get(side.head[node]).replace(/\.(forward|backward)\.$/, '').replace(/\.$/, '');
  const parts = head.split('.');
  if (side.kind[node] !== NodeKind.module) return [base + parts.slice(1).join('.'), base + (parts[parts.length - 1] ?? ''), base];
  return [base + parts.slice(-2).join('.'), base + (parts[parts.length - 2] ?? ''), base];
}

/** Pairs of the children of two nodes: equal names first, then equal ends of names, then what is left of one kind in call order. */
function pairChildren(graph: Graph, a: Side, mine: readonly number[], b: Side, theirs: readonly number[]): [number, number][] {
  const pairs: [number, number][] = [];
  let leftA = [...mine];
  let leftB = [...theirs];
  for (let level = 0; level < 3; level++) {
    const waiting = new Map<string, number[]>();
    for (const node of leftB) {
      const key = keys(graph, b, node)[level];
      const list = waiting.get(key);
      if (list) list.push(node);
      else waiting.set(key, [node]);
    }
    const used = new Set<number>();
    leftA = leftA.filter((node) => {
      // APIs of different names are different operations: order alone pairs modules only.
      if (level === 2 && a.kind[node] !== NodeKind.module) return true;
      const other = waiting.get(keys(graph, a, node)[level])?.shift();
      if (other === undefined) return true;
      pairs.push([node, other]);
      used.add(other);
      return false;
    });
    leftB = leftB.filter((node) => !used.has(node));
  }
  return pairs.sort((x, y) => x[0] - y[0]);
}

/** Everything below two nodes that belongs together, without the two themselves. */
export function pairDescendants(graph: Graph, target: number, golden: number): [number, number][] {
  const other = graph.golden;
  if (!other) return [];
  const found: [number, number][] = [];
  const waiting: [number, number][] = [[target, golden]];
  while (waiting.length > 0) {
    const [a, b] = waiting.pop() as [number, number];
    const pairs = pairChildren(graph, graph.target, children(graph.target, a), other, children(other, b));
    found.push(...pairs);
    waiting.push(...pairs);
  }
  return found.sort((x, y) => x[0] - y[0]);
}

