/** What the mapping leaves unmatched on both sides, by class; a click leads to the nodes. */
import { formatCount } from '../../core/format';
import { setValue } from '../../core/query';
import { SIDES, type Graph, type SideName } from '../../core/types';
import { t } from '../../i18n';
import { select } from '../../state/actions';
import { panel, query } from '../../state/app';
import { previewing, shownRules } from '../../state/mapping';
import type { LeftOver } from '../../state/rematch';
import { findNode } from '../../state/url';
import { ShownInstead } from './mapping_rules';

const MOST = 60;

function LeftOf({ open, side, left }: { readonly open: Graph; readonly side: SideName; readonly left: LeftOver }) {
  const go = (name: string, sample: string): void => {
    const ref = findNode(open, side, sample);
    if (ref) select(ref, { reveal: true, centre: true });
    query.value = setValue(setValue(setValue('', 'class', name), 'is', 'unmatched'), 'side', side);
    panel.value = 'search';
  };
  return (
    <section>
      <h3>
        {t(`side.${side}`)} <span class="dim">{t('mapping.paired', { paired: formatCount(left.paired), total: formatCount(left.modules) })}</span>
      </h3>
      <ul class="rules">
        {left.classes.slice(0, MOST).map((item) => (
          <li key={item.class} class="rule">
            <button class="link rule-words" title={item.sample} onClick={() => go(item.class, item.sample)}>
              {item.class}
            </button>
            <span class="number">{formatCount(item.count)}</span>
          </li>
        ))}
      </ul>
      {left.classes.length === 0 ? <p class="dim">{t('mapping.nothingLeft')}</p> : null}
    </section>
  );
}

export function Left({ open }: { readonly open: Graph }) {
  const { effect } = shownRules.value;
  if (!effect) return <p class="dim">{previewing.value ? t('mapping.looking') : ''}</p>;
  return (
    <>
      <ShownInstead />
      {SIDES.map((side) => (
        <LeftOf key={side} open={open} side={side} left={effect.left[side]} />
      ))}
    </>
  );
}
