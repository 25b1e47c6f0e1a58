/**
 * Which node produced an input, where the numbers tell: the nearest earlier call whose output has the same dtype, number
 * of elements and the same four statistics. A guess by equality, shown as such; nothing is claimed where nothing fits.
 */
import { LEAF, leafView, ROLE, rowRange, type LeafView } from '../core/details';
import { sideOf, type NodeRef } from '../core/types';
import { BLOCK_NODES, type Blocks, type Tensors } from './blocks';

const BLOCKS_BACK = 2; // how many blocks of nodes before the selected one are looked through
const MOST = 6;

export async function findProducers(blocks: Blocks, ref: NodeRef): Promise<NodeRef[]> {
  const side = sideOf(blocks.graph, ref.side);
  if (!side) return [];
  const own = await blocks.tensors(ref.side, ref.node);
  const wanted = inputsOf(own, ref.node);
  if (wanted.length === 0) return [];
  const found: NodeRef[] = [];
  const last = Math.floor(ref.node / BLOCK_NODES);
  for (let k = last; k >= Math.max(0, last - BLOCKS_BACK) && wanted.length > 0; k--) {
    const block = await blocks.tensors(ref.side, k * BLOCK_NODES).catch(() => null);
    if (block) search(block, ref, side.end, wanted, found);
  }
  return found;
}

function inputsOf(block: Tensors, node: number): LeafView[] {
  const [first, behind] = rowRange(block, node);
  const inputs: LeafView[] = [];
  for (let ordinal = 0; ordinal < behind - first && inputs.length < MOST; ordinal++) {
    const leaf = leafView(block, node, ordinal);
    if (leaf && leaf.kind === LEAF.tensor && (leaf.role === ROLE.input || leaf.role === ROLE.kwarg) && informative(leaf)) inputs.push(leaf);
  }
  return inputs;
}

/** A tensor of zeros or ones is equal to too many others. */
function informative(leaf: LeafView): boolean {
  const [max, min, , norm] = leaf.numbers;
  return Number.isFinite(norm) && norm !== 0 && max !== min;
}

function elements(leaf: LeafView): number {
  return (leaf.shape ?? '').split(',').reduce((product, size) => product * (size === '' ? 1 : Number(size)), 1);
}

/** Nodes before `ref`, nearest first, that are neither around nor inside it. */
function search(block: Tensors, ref: NodeRef, end: Int32Array, wanted: LeafView[], found: NodeRef[]): void {
  for (let node = Math.min(ref.node - 1, block.firstNode + block.nodeCount - 1); node >= Math.max(1, block.firstNode) && wanted.length > 0; node--) {
    if (end[node] > ref.node) continue;
    const [first, behind] = rowRange(block, node);
    for (let row = first; row < behind; row++) {
      if (block.role[row] !== ROLE.output || block.kind[row] !== LEAF.tensor) continue;
      const at = wanted.findIndex((leaf) => equal(block, row, node, first, leaf));
      if (at < 0) continue;
      wanted.splice(at, 1);
      if (!found.some((known) => known.node === node)) found.push({ side: ref.side, node });
    }
  }
}

function equal(block: Tensors, row: number, node: number, first: number, leaf: LeafView): boolean {
  for (let k = 0; k < 4; k++) {
    if (!(block.present[row] & (1 << k)) || block.statistics[row * 4 + k] !== leaf.numbers[k]) return false;
  }
  const output = leafView(block, node, row - first);
  return output !== null && output.dtype === leaf.dtype && elements(output) === elements(leaf);
}

