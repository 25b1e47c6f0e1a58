/** Above the graphs: which side is which, what encloses the top of the window, and the switches of both panes. */
import { computed } from '@preact/signals';
import { firstRowFrom } from '../core/drawlist';
import { paneOf } from '../core/layout';
import { toLayout } from '../core/camera';
import { ROW_OPEN } from '../core/rows';
import { sideOf, SIDES, type NodeRef, type SideName } from '../core/types';
import { t } from '../i18n';
import { collapseAll, expandAll, select, toggleOverview } from '../state/actions';
import { graph, names, syncExpansion } from '../state/app';
import { camera, gutter, layout, paneMargin, paneWidth } from '../state/view';
import { Icon } from './icon';

/** Containers that began above the window, outermost first: where one is while scrolling through something long. */
const enclosing = computed<Record<SideName, readonly NodeRef[]>>(() => {
  const result: Record<SideName, NodeRef[]> = { target: [], golden: [] };
  const open = graph.value;
  const arranged = layout.value;
  if (!open || !arranged || camera.value.scroll <= 0) return result;
  for (const which of SIDES) {
    const side = sideOf(open, which);
    const pane = paneOf(arranged, which);
    if (!side || !pane || pane.rows.count === 0) continue;
    const y = toLayout(camera.value, which, 2);
    const row = Math.max(0, firstRowFrom(pane.top, y) - 1);
    for (let node = pane.rows.node[row]; node > 0; node = side.parent[node]) {
      const at = pane.rows.rowOf[node];
      if (at >= 0 && pane.rows.flags[at] & ROW_OPEN && pane.top[at] < y - 8 && pane.bottom[at] > y) result[which].push({ side: which, node });
    }
    result[which].reverse();
  }
  return result;
});

function Trail({ which }: { readonly which: SideName }) {
  const open = graph.value;
  const side = open && sideOf(open, which);
  if (!open || !side || !names.value) return null;
  const known = names.value;
  const trail = enclosing.value[which];
  // Deep nesting: the innermost ones say most.
  const shown = trail.length > 4 ? trail.slice(-4) : trail;
  return (
    <span class="trail">
      {trail.length > shown.length ? '… › ' : ''}
      {shown.map((ref, i) => (
        <span key={ref.node}>
          {i > 0 ? ' › ' : ''}
          <button class="link" onClick={() => select(ref, { reveal: true, centre: true })}>
            {known.label(side, ref.node)}
          </button>
        </span>
      ))}
    </span>
  );
}

function Title({ which }: { readonly which: SideName }) {
  const open = graph.value;
  const about = which === 'target' ? open?.summary.target : open?.summary.golden;
  const toolkit = about?.toolkit || about?.framework || '';
  return (
    <div class="pane-title" style={{ width: `${Math.floor(paneWidth.value)}px` }}>
      <b title={about?.path}>{open?.golden ? t(`side.${which}`) : about?.path}</b>
      {toolkit ? <span> · {toolkit}</span> : null}
      <Trail which={which} />
    </div>
  );
}

function Tool({ label, icon, pressed, act }: { readonly label: string; readonly icon: string; readonly pressed?: boolean; readonly act: () => void }) {
  return (
    <button class={pressed ? 'tool on' : 'tool'} aria-label={label} aria-pressed={pressed} title={label} onClick={act}>
      <Icon path={icon} />
    </button>
  );
}

export function PaneHeader() {
  const open = graph.value;
  return (
    <header class="pane-header" style={{ paddingLeft: `${paneMargin.value}px` }}>
      <Title which="target" />
      {open?.golden ? (
        <>
          <span style={{ width: `${gutter.value}px` }} />
          <Title which="golden" />
        </>
      ) : null}
      <span class="tools">
        {open?.golden ? <Tool label={t('panes.sync')} icon="M3 5h8l-2-2M13 11H5l2 2" pressed={syncExpansion.value} act={() => (syncExpansion.value = !syncExpansion.value)} /> : null}
        <Tool label={t('panes.expandAll')} icon="M4 6l4 4 4-4M4 2.500h8" act={() => expandAll(null)} />
        <Tool label={t('panes.collapseAll')} icon="M4 10l4-4 4 4M4 13.500h8" act={collapseAll} />
        <Tool label={camera.value.scale < 1 ? t('panes.readable') : t('panes.overview')} icon="M2 6V2h4M14 6V2h-4M2 10v4h4M14 10v4h-4" pressed={camera.value.scale < 1} act={toggleOverview} />
      </span>
    </header>
  );
}

