/** A node in a list of a panel: its short name, the full one on hover, a click that goes there. */
import { shortTrail } from '../../core/names';
import { sideOf, type Graph, type NodeRef } from '../../core/types';
import { select } from '../../state/actions';
import { names } from '../../state/app';

export function shortName(open: Graph, ref: NodeRef, length: number): string {
  const side = sideOf(open, ref.side);
  return side && names.value ? shortTrail(names.value.trail(side, ref.node), length) : '';
}

export function NodeLink({ open, to, length = 40 }: { readonly open: Graph; readonly to: NodeRef; readonly length?: number }) {
  const side = sideOf(open, to.side);
  if (!side || !names.value || to.node <= 0 || to.node >= side.count) return null;
  return (
    <button class="link node-link" title={names.value.full(side, to.node)} onClick={() => select(to, { reveal: true, centre: true })}>
      {shortName(open, to, length)}
    </button>
  );
}

/** Target nodes ↔ golden nodes. */
export function PairLine({ open, target, golden, length }: { readonly open: Graph; readonly target: readonly number[]; readonly golden: readonly number[]; readonly length?: number }) {
  return (
    <span class="pair-line">
      {target.map((node) => (
        <NodeLink key={`t${node}`} open={open} to={{ side: 'target', node }} {...(length ? { length } : {})} />
      ))}
      <span class="dim" aria-hidden="true">
        ↔
      </span>
      {golden.map((node) => (
        <NodeLink key={`g${node}`} open={open} to={{ side: 'golden', node }} {...(length ? { length } : {})} />
      ))}
    </span>
  );
}
