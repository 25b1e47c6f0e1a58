/** Findings in call order with their size; chips filter them, `n` and `p` go from one to the next. */
import type { Signal } from '@preact/signals';
import { classOf } from '../../core/colouring';
import { FINDING_GROUPS, refOf, rowOfRef, worstError, type FindingGroup } from '../../core/findings';
import { formatCount, formatError } from '../../core/format';
import { shortTrail } from '../../core/names';
import { Direction, NodeKind, sideOf, type Graph } from '../../core/types';
import { t, type TextKey } from '../../i18n';
import { select } from '../../state/actions';
import { findingFilter, graph, names, panelWidth, selection } from '../../state/app';
import { findingList, findingsByError, onlyBackward, onlyForward } from '../../state/findings';
import { reasonSummary } from '../../state/reasons';
import { causes } from '../../state/view';
import { className } from '../../i18n/class_names';
import { Sign } from '../sign';
import { VirtualList } from '../virtual_list';

const ROW = 44;

function Chip({ on, text, toggle, count }: { readonly on: boolean; readonly text: string; readonly toggle: () => void; readonly count?: number }) {
  return (
    <button class={on ? 'tag on' : 'tag'} aria-pressed={on} onClick={toggle}>
      {text}
      {count !== undefined ? <span class="count"> {formatCount(count)}</span> : null}
    </button>
  );
}

function flip(signal: Signal<boolean>): void {
  signal.value = !signal.value;
}

function toggleGroup(group: FindingGroup): void {
  const next = new Set(findingFilter.value);
  if (!next.delete(group)) next.add(group);
  findingFilter.value = next;
}

function Row({ open, row }: { readonly open: Graph; readonly row: number }) {
  const ref = refOf(row);
  const side = sideOf(open, ref.side);
  const colouring = causes.value;
  if (!side || !names.value || !colouring) return null;
  const item = classOf(colouring, ref.side, ref.node);
  const pair = side.pair[ref.node];
  const error = pair >= 0 ? worstError(open, pair) : Number.NaN;
  const trail = names.value.trail(side, ref.node);
  // What tells two rows of one module apart: which call, which direction. First, since the end of a line may be cut.
  const which = [side.kind[ref.node] !== NodeKind.api && side.call[ref.node] > 0 ? `#${side.call[ref.node]}` : '', side.direction[ref.node] === Direction.backward ? t('direction.backward') : ''];
  return (
    <>
      <Sign item={item} />
      <span class="words" title={names.value.full(side, ref.node)}>
        <span class="name">{shortTrail(trail, Math.max(14, Math.floor((panelWidth.value - 108) / 7.2)))}</span>
        <small>{(pair >= 0 ? [...which, className(item, 'cause'), reasonSummary(open, pair)] : [...which, t('findings.only', { side: t(`side.${ref.side}`) })]).filter(Boolean).join(t('list.comma'))}</small>
      </span>
      <span class="number">{formatError(error) || '–'}</span>
    </>
  );
}

export function FindingsPanel() {
  const open = graph.value;
  const list = findingList.value;
  if (!open || !list) return null;
  const ref = selection.value;
  const active = ref ? list.rows.indexOf(rowOfRef(open, ref)) : -1;
  const shown = FINDING_GROUPS.filter((group) => list.counts[group] > 0 || findingFilter.value.has(group) || group === 'cause');
  return (
    <div class="findings">
      <h2>{findingsByError.value ? t('findings.titleError') : t('findings.title')}</h2>
      <div class="tags">
        {shown.map((group) => (
          <Chip key={group} on={findingFilter.value.has(group)} text={t(`findings.${group}` as TextKey)} count={list.counts[group]} toggle={() => toggleGroup(group)} />
        ))}
        <span class="divider" />
        <Chip on={onlyForward.value} text={t('direction.forward')} toggle={() => flip(onlyForward)} />
        <Chip on={onlyBackward.value} text={t('direction.backward')} toggle={() => flip(onlyBackward)} />
        <Chip on={findingsByError.value} text={t('findings.byError')} toggle={() => flip(findingsByError)} />
      </div>
      {list.rows.length === 0 ? (
        <p class="dim hint">{findingFilter.value.size === 1 && findingFilter.value.has('cause') ? t('findings.emptyClean') : t('findings.empty')}</p>
      ) : (
        <VirtualList
          id="finding"
          label={t('findings.title')}
          count={list.rows.length}
          rowHeight={ROW}
          active={active}
          row={(index) => <Row open={open} row={list.rows[index]} />}
          choose={(index) => select(refOf(list.rows[index]), { reveal: true, centre: true })}
        />
      )}
    </div>
  );
}
