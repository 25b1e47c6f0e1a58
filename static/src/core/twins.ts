/** What belongs to a hand-made match besides the two nodes: the calls of the other direction, and what lies inside. Pure. */
import { childrenOf } from './tree';
import { Direction, NodeKind, NO_CALL, sideOf, type Graph, type NodeRef, type Side } from './types';

const HEAD = /^(.*\.)(forward|backward)(\.)$/s;
const TAIL = /^(\.)(forward|backward)(.*)$/s;

/** Head and tail of the same call in the other direction; null for a name that has no direction. */
function twinTexts(graph: Graph, side: Side, node: number): readonly [string, string] | null {
  if (side.call[node] === NO_CALL) return null;
  const head = graph.strings.get(side.head[node]);
  const tail = graph.strings.get(side.tail[node]);
  const other = (word: string): string => (word === 'forward' ? 'backward' : 'forward');
  const inHead = HEAD.exec(head);
  if (inHead) return [`${inHead[1]}${other(inHead[2])}${inHead[3]}`, tail];
  const inTail = TAIL.exec(tail);
  return inTail ? [head, `${inTail[1]}${other(inTail[2])}${inTail[3]}`] : null;
}

/** The call of the other direction, by its name; -1 when it is not in the graph. Each string is looked at once. */
export function twinOf(graph: Graph, side: Side, node: number): number {
  const texts = twinTexts(graph, side, node);
  if (!texts) return -1;
  const known: [Map<number, boolean>, Map<number, boolean>] = [new Map(), new Map()];
  const is = (which: 0 | 1, id: number): boolean => {
    let answer = known[which].get(id);
    if (answer === undefined) known[which].set(id, (answer = graph.strings.get(id) === texts[which]));
    return answer;
  };
  const { call, direction, head, tail } = side;
  for (let other = 1; other < side.count; other++) {
    if (call[other] !== call[node] || direction[other] === direction[node] || direction[other] === Direction.none) continue;
    if (is(0, head[other]) && is(1, tail[other])) return other;
  }
  return -1;
}

/** The same call in another micro step; null when that one has none. -1 = all micro steps: the node itself. */
export function inMicroStep(graph: Graph, ref: NodeRef, micro: number): NodeRef | null {
  const side = sideOf(graph, ref.side);
  if (!side) return null;
  if (micro < 0 || side.microStep[ref.node] === micro) return ref;
  const same = (node: number): boolean => side.head[node] === side.head[ref.node] && side.tail[node] === side.tail[ref.node];
  // An API is called often within one micro step: its calls correspond by their order there.
  let before = 0;
  for (let node = 1; node < ref.node; node++) if (side.microStep[node] === side.microStep[ref.node] && same(node)) before++;
  for (let node = 1; node < side.count; node++) if (side.microStep[node] === micro && same(node) && before-- === 0) return { side: ref.side, node };
  return null;
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
    const pairs = pairChildren(graph, graph.target, [...childrenOf(graph.target.end, a)], other, [...childrenOf(other.end, b)]);
    found.push(...pairs);
    waiting.push(...pairs);
  }
  return found.sort((x, y) => x[0] - y[0]);
}

