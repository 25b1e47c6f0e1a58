/** The words of a box: title, what it is, its error, and which causes a collapsed box hides. */
import type { Colouring } from '../core/colouring';
import { columnOf } from '../core/colouring';
import { shares, isFold, type BoxItem } from '../core/drawlist';
import { formatError } from '../core/format';
import type { Folds } from '../core/folds';
import type { Names } from '../core/names';
import { ROW_OPEN, ROW_PILL } from '../core/rows';
import { Direction, FLAG_RECOMPUTED, NodeKind, sideOf, type Graph, type Side, type SideName } from '../core/types';
import { t } from '../i18n';
import { className } from '../i18n/class_names';

export interface BoxLabel {
  readonly title: string;
  readonly detail: string;
  readonly value: string;
  readonly cls: number; // own class
  readonly hidden: readonly { readonly cls: number; readonly count: number }[]; // causes inside a collapsed box
}

export interface LabelContext {
  readonly graph: Graph;
  readonly names: Names;
  readonly colouring: Colouring;
  readonly folds: Folds;
}

/** Texts are kept until the graph, the colours or the language change. */
export class Labels {
  private readonly known: Record<SideName, Map<number, BoxLabel>> = { target: new Map(), golden: new Map() };

  constructor(private readonly context: LabelContext) {}

  of(which: SideName, item: BoxItem): BoxLabel {
    // One node is shown as a fold, closed or open: three labels at most.
    const key = item.node * 4 + (isFold(item.flags) ? 1 : item.flags & ROW_OPEN ? 2 : 0);
    const kept = this.known[which];
    let label = kept.get(key);
    if (label === undefined) {
      if (kept.size > 50_000) kept.clear();
      label = isFold(item.flags) ? this.fold(which, item) : this.node(which, item);
      kept.set(key, label);
    }
    return label;
  }

  private node(which: SideName, item: BoxItem): BoxLabel {
    const { graph, names, colouring } = this.context;
    const side = sideOf(graph, which);
    if (!side) return EMPTY;
    const { node } = item;
    const column = columnOf(colouring, which);
    const cls = column ? column.classes[node] : 0;
    const details: string[] = [];
    if (side.kind[node] === NodeKind.module) details.push(names.of(side, node).type);
    if (side.kind[node] === NodeKind.apiCollection) details.push(t('box.calls', { count: side.end[node] - node - 1 }));
    if (side.call[node] > 0 && side.kind[node] !== NodeKind.api) details.push(`#${side.call[node]}`);
    if (begins(side, node)) details.push(t('direction.backward'));
    if (side.flags[node] & FLAG_RECOMPUTED) details.push(t('box.recomputed'));
    const closed = item.branch && !(item.flags & (ROW_OPEN | ROW_PILL));
    return {
      title: names.label(side, node),
      detail: details.filter((text) => text !== '').join(' · '),
      value: which === 'target' ? this.value(node) : '',
      cls,
      hidden: closed ? this.hidden(which, node + 1, item.end) : [],
    };
  }

  private fold(which: SideName, item: BoxItem): BoxLabel {
    const { graph, names, colouring, folds } = this.context;
    const side = sideOf(graph, which);
    if (!side) return EMPTY;
    const column = columnOf(colouring, which);
    const errors = this.metric();
    let members = 0;
    let last = item.node;
    let cls = 0;
    let alike = true;
    const size = side.end[item.node] - item.node;
    let worst = -1;
    let worstNode = -1;
    for (let node = item.node; node < item.end; node = side.end[node]) {
      members++;
      last = node;
      alike = alike && side.end[node] - node === size;
      if (column && column.classes[node] > cls) cls = column.classes[node];
      const pair = side.pair[node];
      const error = pair >= 0 && errors ? errors[pair] : Number.NaN;
      if (error > worst) {
        worst = error;
        worstNode = node;
      }
    }
    const first = names.label(side, item.node);
    const details = [t(alike ? 'box.alike' : 'box.similar', { count: members })];
    if (which === 'target' && cls > 0) details.push(className(colouring.classes[cls], colouring.mode));
    // Of layers in which nothing is wrong none is the worst: its number would read like an error.
    if (which === 'target' && worst > 0 && colouring.classes[cls]?.id !== 'clean') details.push(t('box.worst', { index: folds.index(side, worstNode) }));
    if (side.call[item.node] > 0) details.push(`#${side.call[item.node]}`);
    if (begins(side, item.node)) details.push(t('direction.backward'));
    return {
      title: `${first}–${folds.index(side, last)}`,
      detail: details.join(t('list.comma')),
      value: which === 'target' && worst >= 0 ? formatError(worst) : '',
      cls,
      hidden: this.hidden(which, item.node, item.end),
    };
  }

  /** The numbers that stand beside boxes. */
  private metric(): Float32Array | null {
    return this.context.graph.golden ? this.context.colouring.values : null;
  }

  private value(node: number): string {
    const { graph } = this.context;
    const pair = graph.target.pair[node];
    const errors = this.metric();
    return pair >= 0 && errors ? formatError(errors[pair]) : '';
  }

  private hidden(which: SideName, from: number, to: number): { cls: number; count: number }[] {
    const column = columnOf(this.context.colouring, which);
    if (!column || to <= from) return [];
    return shares(column, from, to).filter((item) => this.context.colouring.classes[item.cls]?.strong);
  }
}

/** Where the backward pass begins: below, everything is backward anyway. */
function begins(side: Side, node: number): boolean {
  return side.direction[node] === Direction.backward && side.direction[side.parent[node]] !== Direction.backward;
}

const EMPTY: BoxLabel = { title: '', detail: '', value: '', cls: 0, hidden: [] };

