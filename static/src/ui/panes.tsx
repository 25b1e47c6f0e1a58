/** The two graphs with pointer and wheel. Keys are handled for the whole page by keyboard.ts; the tree twin by twin.tsx. */
import { useSignal, type Signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { TEXT_LEFT } from '../core/drawlist';
import { ROW_PILL } from '../core/rows';
import { sideOf, type NodeRef } from '../core/types';
import { t } from '../i18n';
import { startPainting } from '../paint/painter';
import { moveCamera, resize, scrollBy, select, toggle, zoom } from '../state/actions';
import { drop, graph, hovered, names, pick } from '../state/app';
import { hitAt, sameNode, type Hit } from '../state/scene';
import { camera } from '../state/view';
import { Legend } from './legend';
import { Minimaps } from './minimaps';
import { PaneHeader } from './pane_header';
import { theme } from './theming';
import { Twin } from './twin';

const LINE = 30; // pixels for one step of a wheel that counts in lines
const CLICK_SLACK = 4;
const DRAG_ASIDE = 14; // pixels to the side from which a box is dragged and not the page

function useCanvasSize(host: { current: HTMLDivElement | null }): void {
  useLayoutEffect(() => {
    const element = host.current;
    if (!element) return undefined;
    const measure = (): void => {
      // A hidden tab reports 0 × 0: everything stays as it is until it comes back.
      if (element.clientWidth > 0 && element.clientHeight > 0) resize(element.clientWidth, element.clientHeight);
    };
    measure(); // at once: the first frame then shows the graphs, not an empty page
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
}

function useWheel(host: { current: HTMLDivElement | null }): void {
  useEffect(() => {
    const element = host.current;
    if (!element) return undefined;
    const onWheel = (event: WheelEvent): void => {
      event.preventDefault();
      const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE : event.deltaMode === WheelEvent.DOM_DELTA_PAGE ? element.clientHeight * 0.9 : 1;
      const delta = event.deltaY * unit;
      if (event.ctrlKey || event.metaKey) zoom(Math.exp(-Math.max(-200, Math.min(200, delta)) * 0.003), event.clientY - element.getBoundingClientRect().top);
      else scrollBy(delta);
    };
    // Not passive: the page around must neither scroll nor zoom.
    element.addEventListener('wheel', onWheel, { passive: false });
    return () => element.removeEventListener('wheel', onWheel);
  }, []);
}

/** What the mouse button holds: the page, or a box that may be dropped on another one. */
interface Held {
  readonly x: number;
  readonly y: number;
  readonly scroll: number;
  readonly box: NodeRef | null;
  moved: boolean;
  dragging: boolean;
}

/** The triangle of a container; wide enough to be hit with a finger. */
function onTriangle(hit: Hit, x: number, y: number): boolean {
  return hit.item.branch && !(hit.item.flags & ROW_PILL) && y < hit.item.y + hit.item.header && x < hit.item.x + TEXT_LEFT + 16;
}

/** What the mouse does in the graphs: selecting, opening, moving the page, dragging a box onto another one. `tip`: the name under it. */
function usePointer(host: { current: HTMLDivElement | null }, tip: Signal<string>) {
  const held = useRef<Held | null>(null);
  const point = (event: MouseEvent): [number, number] => {
    const box = (host.current as HTMLDivElement).getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const onPointerDown = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    held.current = { x: event.clientX, y: event.clientY, scroll: camera.value.scroll, moved: false, box: drop.value ? (hitAt(...point(event))?.ref ?? null) : null, dragging: false };
    host.current?.setPointerCapture(event.pointerId);
  };
  const onPointerMove = (event: PointerEvent): void => {
    const drag = held.current;
    if (drag) {
      const aside = Math.abs(event.clientX - drag.x);
      if (drag.box && !drag.moved && aside > DRAG_ASIDE && aside > Math.abs(event.clientY - drag.y)) drag.dragging = true;
      if (drag.dragging) {
        hovered.value = hitAt(...point(event))?.ref ?? null;
        return;
      }
      if (Math.abs(event.clientY - drag.y) > CLICK_SLACK) drag.moved = true;
      if (drag.moved) moveCamera({ scroll: drag.scroll - (event.clientY - drag.y) / camera.value.scale });
      return;
    }
    const found = hitAt(...point(event));
    if (!found || !sameNode(found.ref, hovered.value)) {
      hovered.value = found?.ref ?? null;
      const side = found && graph.value ? sideOf(graph.value, found.ref.side) : null;
      tip.value = found && side && names.value ? names.value.full(side, found.ref.node) : '';
    }
  };
  const onPointerUp = (event: PointerEvent): void => {
    const drag = held.current;
    held.current = null;
    if (!drag || drag.moved) return;
    const [x, y] = point(event);
    const found = hitAt(x, y);
    if (drag.dragging) {
      if (drag.box && found && found.ref.side !== drag.box.side) drop.value?.(drag.box, found.ref);
    } else if (found && pick.value && (event.ctrlKey || event.metaKey || event.shiftKey)) pick.value(found.ref);
    else if (found && onTriangle(found, x, y)) toggle(found.ref);
    else select(found?.ref ?? null);
  };
  const onDoubleClick = (event: MouseEvent): void => {
    const [x, y] = point(event);
    const found = hitAt(x, y);
    if (found && !onTriangle(found, x, y)) toggle(found.ref);
  };
  const onPointerLeave = (): void => {
    hovered.value = null;
    tip.value = '';
  };
  const onPointerCancel = (): void => {
    held.current = null;
  };
  return { onPointerDown, onPointerMove, onPointerUp, onPointerCancel, onPointerLeave, onDblClick: onDoubleClick };
}

export function Panes() {
  const host = useRef<HTMLDivElement>(null);
  const base = useRef<HTMLCanvasElement>(null);
  const over = useRef<HTMLCanvasElement>(null);
  const tip = useSignal('');

  useLayoutEffect(() => (base.current && over.current ? startPainting(base.current, over.current, theme) : undefined), []);
  useCanvasSize(host);
  useWheel(host);
  const handlers = usePointer(host, tip);

  return (
    <section class="panes" aria-label={t('panes.label')}>
      <div class="pane-column">
        <PaneHeader />
        <div
          class="canvas-host"
          ref={host}
          title={tip.value}
          {...handlers}
        >
          <canvas ref={base} aria-hidden="true" />
          <canvas ref={over} aria-hidden="true" />
          <Twin />
        </div>
        <Legend />
      </div>
      <Minimaps />
    </section>
  );
}
