/** Nodes picked on each side for a match by hand, and what may be done with them. */
import { batch, computed, effect, signal } from '@preact/signals';
import { type MatchEntry, type RelationWord, withMatches } from '../core/marks';
import { nodeName } from '../core/names';
import { pairDescendants, twinOf } from '../core/twins';
import { Direction, otherSide, pairNodes, partners, sideOf, type Graph, type NodeRef, type SideName } from '../core/types';
import { drop, graph, marked, panel, pick, selection } from './app';
import { change, marks, signature } from './marks';
import { select } from './actions';
import { stored } from './rematch';

export type Picks = Readonly<Record<SideName, readonly number[]>>;
const NOTHING_PICKED: Picks = { target: [], golden: [] };

export const picks = signal<Picks>(NOTHING_PICKED);
export const relation = signal<RelationWord>('concat');
export const withInside = signal(false);
export const withTwins = signal(true);
/** While on, a click adds to the picked nodes instead of replacing them (for those who cannot hold Ctrl). */
export const adding = signal(false);

function toggled(list: readonly number[], node: number): number[] {
  return list.includes(node) ? list.filter((item) => item !== node) : [...list, node].sort((a, b) => a - b);
}

export function togglePick(ref: NodeRef): void {
  picks.value = { ...picks.value, [ref.side]: toggled(picks.value[ref.side], ref.node) };
}

export function clearPicks(): void {
  picks.value = NOTHING_PICKED;
}

/** What stands in the way of a match, as the key of a sentence; null when it can be made. */
export const obstacle = computed<'pickTarget' | 'pickGolden' | 'many' | 'direction' | null>(() => {
  const open = graph.value;
  const { target, golden } = picks.value;
  if (!open?.golden) return 'pickGolden';
  if (target.length === 0) return 'pickTarget';
  if (golden.length === 0) return 'pickGolden';
  // A group has one node on one side: only then is one tensor composed of others.
  if (target.length > 1 && golden.length > 1) return 'many';
  const other = open.golden;
  const directions = new Set([...target.map((node) => open.target.direction[node]), ...golden.map((node) => other.direction[node])]);
  directions.delete(Direction.none);
  return directions.size > 1 ? 'direction' : null;
});

function entry(open: Graph, action: MatchEntry['action'], target: readonly number[], golden: readonly number[]): MatchEntry {
  const other = open.golden;
  return {
    action,
    target: target.map((node) => nodeName(open, open.target, node)),
    golden: other ? golden.map((node) => nodeName(open, other, node)) : [],
    relation: target.length === 1 && golden.length === 1 ? 'same' : relation.value,
    ...signature(),
  };
}

/** Entries for the given nodes with what else is wanted: the other direction, everything inside. */
function entriesFor(open: Graph, target: readonly number[], golden: readonly number[], inside: boolean): MatchEntry[] {
  const made: [readonly number[], readonly number[]][] = [[target, golden]];
  if (withTwins.value) {
    const other = open.golden;
    const mine = target.map((node) => twinOf(open, open.target, node));
    const theirs = golden.map((node) => (other ? twinOf(open, other, node) : -1));
    if ([...mine, ...theirs].every((node) => node > 0)) made.push([mine, theirs]);
  }
  if (inside) {
    for (const [a, b] of made.slice()) {
      if (a.length !== 1 || b.length !== 1) continue;
      for (const [x, y] of pairDescendants(open, a[0], b[0])) made.push([[x], [y]]);
    }
  }
  return made.map(([a, b]) => entry(open, 'match', a, b));
}

/** Matches what is picked. */
export function matchPicked(): void {
  const open = graph.value;
  if (!open || obstacle.value) return;
  const { target, golden } = picks.value;
  change(withMatches(marks.value, entriesFor(open, target, golden, withInside.value)));
  const first = target[0];
  batch(() => {
    clearPicks();
    adding.value = false;
  });
  select({ side: 'target', node: first }, { reveal: true });
}

/** Matches one node with one of the other side (dragged onto it). */
function matchTwo(from: NodeRef, to: NodeRef): void {
  const open = graph.value;
  if (!open?.golden || from.side === to.side) return;
  const target = from.side === 'target' ? from.node : to.node;
  const golden = from.side === 'golden' ? from.node : to.node;
  picks.value = { target: [target], golden: [golden] };
  if (obstacle.value === null) matchPicked();
}

/** Takes the pair of the selection apart, and that of its other direction. */
export function takeApart(ref: NodeRef): void {
  const open = graph.value;
  const pair = open ? (sideOf(open, ref.side)?.pair[ref.node] ?? -1) : -1;
  if (!open || pair < 0) return;
  const target = Array.from(pairNodes(open.pairs, pair, 'target'));
  const golden = Array.from(pairNodes(open.pairs, pair, 'golden'));
  const made = [entry(open, 'unmatch', target, golden)];
  if (withTwins.value) {
    const mine = target.map((node) => twinOf(open, open.target, node));
    const twinPair = mine.length > 0 && mine[0] > 0 ? open.target.pair[mine[0]] : -1;
    if (twinPair >= 0) made.push(entry(open, 'unmatch', Array.from(pairNodes(open.pairs, twinPair, 'target')), Array.from(pairNodes(open.pairs, twinPair, 'golden'))));
  }
  change(withMatches(marks.value, made));
}

/** Pairs that a match of the picked nodes would dissolve: nodes on the other side that now lose their counterpart. */
export const dissolved = computed<readonly NodeRef[]>(() => {
  const open = graph.value;
  if (!open) return [];
  const found: NodeRef[] = [];
  for (const side of ['target', 'golden'] as const) {
    const opposite = otherSide(side);
    for (const node of picks.value[side]) {
      for (const partner of partners(open, side, node)) if (!picks.value[opposite].includes(partner)) found.push({ side: opposite, node: partner });
    }
  }
  return found;
});

/** Call once a page: while the panel is open, a selected node is a picked one, and panes hand over clicks and drops. */
export function followPicks(): void {
  effect(() => {
    void stored.value; // another graph: other nodes
    clearPicks();
  });
  effect(() => {
    const open = panel.value === 'matches' && Boolean(graph.value?.golden);
    pick.value = open ? togglePick : null;
    drop.value = open ? matchTwo : null;
  });
  effect(() => {
    const ref = selection.value;
    if (panel.value !== 'matches' || !ref) return;
    const now = picks.peek();
    const list = adding.peek() ? [...new Set([...now[ref.side], ref.node])].sort((a, b) => a - b) : [ref.node];
    picks.value = { ...now, [ref.side]: list };
  });
  effect(() => {
    marked.value = panel.value === 'matches' ? [...picks.value.target.map((node) => ({ side: 'target' as const, node })), ...picks.value.golden.map((node) => ({ side: 'golden' as const, node }))] : [];
  });
}
