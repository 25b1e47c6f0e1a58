/** Both graphs whole, one narrow column each, with the part that is in view; a click goes there. */
import { useComputed } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { columnOf } from '../core/colouring';
import { minimap, nodeAt } from '../core/minimap';
import { sideOf, SIDES, type SideName } from '../core/types';
import { t } from '../i18n';
import { select } from '../state/actions';
import { graph, selection } from '../state/app';
import { drawLists } from '../state/scene';
import { camera, canvasSize, colours, layout } from '../state/view';
import { fitCanvas } from '../paint/painter';
import { useDrawing } from './drawing';
import { theme } from './theming';

const WIDTH = window.innerWidth < 1000 ? 14 : 29;

function Minimap({ which }: { readonly which: SideName }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const mark = useRef<HTMLDivElement>(null);
  const height = useComputed(() => Math.max(40, canvasSize.value.height + 14));

  useDrawing(() => {
    const open = graph.value;
    const side = open && sideOf(open, which);
    const colouring = colours.value;
    const column = colouring && columnOf(colouring, which);
    const element = canvas.current;
    const context = element?.getContext('2d');
    if (!element || !context || !side || !colouring || !column) return;
    fitCanvas(element, context, WIDTH, height.value);
    for (const segment of minimap(column, colouring, height.value, 1, side.count)) {
      context.fillStyle = theme.value.fill(colouring.classes[segment.cls]);
      context.fillRect(segment.x * WIDTH, segment.y, segment.width * WIDTH, segment.height);
    }
  });

  // Only two boxes move while scrolling; the picture below stays.
  useDrawing(() => {
    void [camera.value, layout.value, canvasSize.value];
    const open = graph.value;
    const side = open && sideOf(open, which);
    const list = drawLists().find((item) => item.side === which);
    if (!side || !list || !frame.current) return;
    const scale = height.value / Math.max(1, side.count - 1);
    const top = (Math.max(1, list.firstNode) - 1) * scale;
    const bottom = Math.max(top + 6, list.lastNode * scale);
    frame.current.style.top = `${Math.min(top, height.value - 6)}px`;
    frame.current.style.height = `${Math.min(height.value, bottom) - Math.min(top, height.value - 6)}px`;
  });
  useDrawing(() => {
    const open = graph.value;
    const side = open && sideOf(open, which);
    const ref = selection.value;
    if (!mark.current || !side) return;
    mark.current.hidden = !(ref && ref.side === which);
    if (ref && ref.side === which) mark.current.style.top = `${((ref.node - 1) / Math.max(1, side.count - 1)) * height.value}px`;
  });

  const go = (event: PointerEvent): void => {
    const open = graph.value;
    const side = open && sideOf(open, which);
    if (!side || event.buttons === 0) return;
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    select({ side: which, node: nodeAt(event.clientY - box.top, height.value, side.count) }, { reveal: true, centre: true });
  };
  return (
    <div class="minimap" role="img" aria-label={t('minimap.label', { side: t(`side.${which}`) })} style={{ height: `${height.value}px`, width: `${WIDTH}px` }} onPointerDown={go}>
      <canvas ref={canvas} aria-hidden="true" />
      <div class="view" ref={frame} />
      <div class="mark" ref={mark} />
    </div>
  );
}

export function Minimaps() {
  const open = graph.value;
  return <div class="minimaps">{SIDES.filter((which) => open && sideOf(open, which)).map((which) => <Minimap key={which} which={which} />)}</div>;
}
