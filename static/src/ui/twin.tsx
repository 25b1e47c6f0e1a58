/** The accessible twin of the canvas: the boxes in view as two trees in the document, for screen readers and tests. */
import { useSignal, useSignalEffect } from '@preact/signals';
import { classOf } from '../core/colouring';
import type { BoxItem, DrawList } from '../core/drawlist';
import { formatError } from '../core/format';
import { ROW_FOLD, ROW_OPEN } from '../core/rows';
import { otherSide, partners, sideOf, type Side, type SideName } from '../core/types';
import { t } from '../i18n';
import { select, toggle } from '../state/actions';
import { announcement, graph, names, selection } from '../state/app';
import { drawLists, sameNode } from '../state/scene';
import { camera, canvasSize, causes, layout } from '../state/view';
import { className } from '../i18n/class_names';

const SETTLE = 120; // milliseconds after the last change; scrolling itself touches no document

function itemLabel(which: SideName, side: Side, item: BoxItem): string {
  const open = graph.value;
  const known = names.value;
  const colouring = causes.value;
  if (!open || !known || !colouring) return '';
  const pair = side.pair[item.node];
  const words = [known.label(side, item.node), known.of(side, item.node).type, className(classOf(colouring, which, item.node), 'cause')];
  if (pair >= 0) words.push(formatError(open.verdicts.error[pair]));
  const opposite = sideOf(open, otherSide(which));
  if (opposite) words.push(...Array.from(partners(open, which, item.node), (node) => `↔ ${known.label(opposite, node)}`));
  return words.filter((word) => word !== '').join(', ');
}

function Tree({ list }: { readonly list: DrawList }) {
  const open = graph.value;
  const side = open && sideOf(open, list.side);
  if (!side) return null;
  const items = [...list.boxes, ...list.pills].sort((a, b) => a.node - b.node);
  const active = items.find((item) => sameNode({ side: list.side, node: item.node }, selection.value));
  return (
    <div role="tree" tabIndex={0} aria-label={t('panes.tree', { side: t(`side.${list.side}`) })} aria-description={t('panes.treeHint')} aria-activedescendant={active ? `${list.side}-${active.node}` : undefined}>
      {items.map((item) => {
        const branch = item.branch || (item.flags & ROW_FOLD) !== 0;
        const ref = { side: list.side, node: item.node };
        return (
          <div
            key={item.node}
            id={`${list.side}-${item.node}`}
            role="treeitem"
            aria-level={side.depth[item.node]}
            aria-expanded={branch ? (item.flags & ROW_OPEN) !== 0 : undefined}
            aria-selected={item === active}
            data-node={item.node}
            onClick={() => select(ref, { reveal: true })}
            onDblClick={() => toggle(ref)}
          >
            {itemLabel(list.side, side, item)}
          </div>
        );
      })}
    </div>
  );
}

export function Twin() {
  const lists = useSignal<readonly DrawList[]>([]);
  useSignalEffect(() => {
    void [layout.value, camera.value, canvasSize.value];
    const timer = setTimeout(() => (lists.value = drawLists()), SETTLE);
    return () => clearTimeout(timer);
  });
  useSignalEffect(() => {
    const ref = selection.value;
    const open = graph.value;
    const side = ref && open && sideOf(open, ref.side);
    const colouring = causes.value;
    if (!ref || !side || !names.value || !colouring) return;
    announcement.value = t('announce.selected', {
      name: names.value.label(side, ref.node),
      side: t(`side.${ref.side}`),
      cls: className(classOf(colouring, ref.side, ref.node), 'cause'),
    });
  });
  return (
    <div class="twin">
      {lists.value.map((list) => (
        <Tree key={list.side} list={list} />
      ))}
    </div>
  );
}
