/** A node in a list of a panel: its short name, the full one on hover, a click that goes there. */
import { shortTrail } from '../../core/names';
import { Direction, sideOf, type Graph, type NodeRef } from '../../core/types';
import { t } from '../../i18n';
import { select } from '../../state/actions';
import { names } from '../../state/app';

function trailOf(open: Graph, ref: NodeRef, length: number): string {
  const side = sideOf(open, ref.side);
  return side && names.value ? shortTrail(names.value.trail(side, ref.node), length) : '';
}

export function NodeLink({ open, to, length = 40 }: { readonly open: Graph; readonly to: NodeRef; readonly length?: number }) {
  const side = sideOf(open, to.side);
  if (!side || !names.value || to.node <= 0 || to.node >= side.count) return null;
  return (
    <button class="link node-link" title={names.value.full(side, to.node)} onClick={() => select(to, { reveal: true, centre: true })}>
      {trailOf(open, to, length)}
    </button>
  );
}

/** Target nodes ↔ golden nodes. */
export function PairLine({ open, target, golden, length }: { readonly open: Graph; readonly target: readonly number[]; readonly golden: readonly number[]; readonly length?: number }) {
  // A module's calls of both directions have one short name.
  const backward = target.length > 0 && open.target.direction[target[0]] === Direction.backward;
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
      {backward ? <small class="dim">{t('direction.backward')}</small> : null}
    </span>
  );
}
