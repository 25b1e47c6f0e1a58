/** Details of the selection: fetched a moment after it changed, kept while the next ones are on their way. */
import { effect, signal } from '@preact/signals';
import { detailNodes, pairRows, plainRows, type DetailRow } from '../core/details';
import { findProducers } from '../wire/producers';
import type { NodeRef } from '../core/types';
import { BLOCK_NODES, type Tensors } from '../wire/blocks';
import { SourceError, type LocalText } from '../wire/source';
import { selection } from './app';
import { newer, problemText } from './open';
import { blocks, producers } from './view';

export interface StackView {
  readonly node: NodeRef;
  readonly lines: readonly string[]; // innermost frame first
}

export interface Details {
  readonly ref: NodeRef;
  readonly pair: number; // -1 = unmatched
  readonly nodes: readonly NodeRef[];
  readonly rows: readonly DetailRow[];
  readonly stacks: readonly StackView[];
}

export const details = signal<Details | null>(null);
export const detailsPending = signal(false);
export const detailsFailure = signal<LocalText | null>(null);

const DELAY = 30; // milliseconds: held arrow keys do not ask for every node they pass

let attempt = 0;

async function load(ref: NodeRef): Promise<void> {
  const from = blocks.value;
  if (!from) return;
  const mine = ++attempt;
  detailsPending.value = true;
  try {
    const { graph } = from;
    const { pair, nodes } = detailNodes(graph, ref);
    const tensors = new Map<string, Tensors>();
    const [comparisons] = await Promise.all([
      pair >= 0 ? from.comparisons(pair).catch(ignoreMissing) : Promise.resolve(null),
      ...nodes.map(async ({ side, node }) => {
        tensors.set(`${side}|${Math.floor(node / BLOCK_NODES)}`, await from.tensors(side, node));
      }),
    ]);
    const found = { comparisons, tensors };
    const rows = comparisons ? pairRows(graph, pair, found) : [];
    const stacks = await stacksOf(nodes, tensors);
    if (mine !== attempt) return;
    details.value = { ref, pair, nodes, rows: rows.length > 0 ? rows : plainRows(nodes, found), stacks };
    detailsFailure.value = null;
    producers.value = [];
    const feeding = await findProducers(from, ref);
    if (mine === attempt) producers.value = feeding;
  } catch (problem) {
    if (mine !== attempt) return;
    details.value = null;
    detailsFailure.value = problemText(problem);
    if (codeOf(problem) === 'changed') newer.value = true;
  } finally {
    if (mine === attempt) detailsPending.value = false;
  }
}

function codeOf(problem: unknown): string {
  return problem instanceof SourceError ? problem.code : '';
}

/** Structure dumps have pairs but no comparisons: then the nodes are shown without a verdict. */
function ignoreMissing(problem: unknown): null {
  if (codeOf(problem) !== 'no_such_section' && codeOf(problem) !== 'not_embedded') throw problem;
  return null;
}

async function stacksOf(nodes: readonly NodeRef[], tensors: ReadonlyMap<string, Tensors>): Promise<StackView[]> {
  const from = blocks.value;
  const found: StackView[] = [];
  for (const node of nodes) {
    const block = tensors.get(`${node.side}|${Math.floor(node.node / BLOCK_NODES)}`);
    const index = block ? block.stack[node.node - block.firstNode] : 0;
    if (index === 0 || !from) continue;
    const all = await from.stacks(node.side);
    const stack = all.stacks[index - 1];
    if (stack) found.push({ node, lines: stack.lines.map((line) => all.lines[line] ?? '') });
  }
  return found;
}

/** Call once: details then follow the selection. */
export function followSelection(): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  effect(() => {
    const ref = selection.value;
    void blocks.value;
    clearTimeout(timer);
    if (!ref) {
      attempt++;
      details.value = null;
      detailsFailure.value = null;
      detailsPending.value = false;
      producers.value = [];
      return;
    }
    timer = setTimeout(() => void load(ref), DELAY);
  });
}
