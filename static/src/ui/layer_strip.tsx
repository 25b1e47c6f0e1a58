/** The layer strip: sub-module × layer, coloured by class and tinted by error; click or arrow keys and Enter to jump. */
import { computed, signal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { formatError } from '../core/format';
import { shortenMiddle } from '../core/names';
import { intensity, layerMatrix, layerStacks, type LayerStack, type Matrix } from '../core/strip';
import { Direction } from '../core/types';
import { t } from '../i18n';
import { locale } from '../i18n/locale';
import { drawSign } from '../paint/pane';
import { select } from '../state/actions';
import { announcement, graph, microStep, names, stripChosen, stripOpen, windowHeight } from '../state/app';
import { colours } from '../state/view';
import { className } from '../i18n/class_names';
import { fitCanvas } from '../paint/painter';
import { useDrawing } from './drawing';
import { theme } from './theming';

const MOST_TABS = 6;
const LINE = 15;
const GAP = 2;
const HEAD = 15;

const stacks = computed<readonly LayerStack[]>(() => (graph.value && names.value ? layerStacks(graph.value.target, names.value) : []));
const chosenStack = signal(0);
const stack = computed<LayerStack | null>(() => stacks.value[Math.min(chosenStack.value, stacks.value.length - 1)] ?? null);
const matrix = computed<Matrix | null>(() => {
  const open = graph.value;
  if (!open || !names.value || !colours.value || !stack.value) return null;
  return layerMatrix(open, names.value, colours.value, stack.value, stripOpen.value ? mostRows.value : 0, microStep.value);
});
/** A tall window has room for more sub-modules. */
const mostRows = computed(() => (windowHeight.value >= 900 ? 12 : 8));
const cursor = signal(-1); // cell under the mouse or the keyboard
const width = signal(0);

function cellText(shown: Matrix, cell: number): string {
  const colouring = colours.value;
  if (!colouring || cell < 0 || cell >= shown.cls.length) return '';
  const columns = shown.columns.length;
  return t('strip.cell', {
    layer: shown.columns[cell % columns],
    row: shown.rows[Math.floor(cell / columns)] || t('strip.whole'),
    cls: className(colouring.classes[shown.cls[cell]], colouring.mode),
    error: formatError(shown.error[cell]),
  }).trim();
}

function heightOf(shown: Matrix): number {
  return HEAD + shown.rows.length * (LINE + GAP);
}

function paint(canvas: HTMLCanvasElement, shown: Matrix, wide: number): void {
  const context = canvas.getContext('2d');
  const colouring = colours.value;
  if (!context || !colouring) return;
  fitCanvas(canvas, context, wide, heightOf(shown));
  const colours_ = theme.value;
  const columns = shown.columns.length;
  const step = wide / columns;
  const gap = step > 8 ? GAP : step > 4 ? 1 : 0;
  // Labels of columns thin out where they would touch.
  const every = Math.max(1, Math.ceil(26 / step));
  context.font = `10px ${colours_.family}`;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.fillStyle = colours_.dim;
  shown.columns.forEach((index, column) => {
    if (column % every === 0) context.fillText(String(index), (column + 0.5) * step - gap / 2, HEAD / 2);
  });
  const largest = shown.error.reduce((most, value) => (Number.isFinite(value) && value > most ? value : most), 0);
  for (let cell = 0; cell < shown.cls.length; cell++) {
    if (shown.node[cell] < 0) continue;
    const column = cell % columns;
    const row = Math.floor(cell / columns);
    const x = column * step;
    const y = HEAD + row * (LINE + GAP);
    const item = colouring.classes[shown.cls[cell]];
    // Only what is wrong is tinted by how much.
    context.globalAlpha = item && item.sign !== '' && !item.strong && colouring.scale === null ? intensity(shown.error[cell], largest) : 1;
    context.fillStyle = colours_.fill(item);
    if (step > 8) {
      context.beginPath();
      context.roundRect(x, y, step - gap, LINE, 2);
      context.fill();
    } else context.fillRect(x, y, Math.max(1, step - gap), LINE); // hundreds of layers: thousands of cells
    context.globalAlpha = 1;
    if ((item?.strong || item?.id === 'expected') && step >= 9) drawSign({ context, theme: colours_, colouring }, x + (step - gap) / 2 - 6.5, y + LINE / 2, 13, shown.cls[cell]);
    else if (item?.id === 'unmatched' && step >= 6) {
      context.fillStyle = colours_.panel;
      for (let at = 3; at < step - gap; at += 6) context.fillRect(x + at, y, 3, LINE);
    }
    if (cell === cursor.value) {
      context.strokeStyle = colours_.accent;
      context.lineWidth = 1.5;
      context.strokeRect(x - 0.5, y - 0.5, Math.max(2, step - gap) + 1, LINE + 1);
    }
  }
}

function Grid({ shown }: { readonly shown: Matrix }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const host = useRef<HTMLDivElement>(null);
  useDrawing(() => {
    const element = host.current;
    if (!element) return undefined;
    const measure = (): void => {
      if (element.clientWidth > 0) width.value = element.clientWidth;
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  });
  useDrawing(() => {
    void [cursor.value, theme.value, colours.value, locale.value];
    if (canvas.current && matrix.value && width.value > 0) paint(canvas.current, matrix.value, width.value);
  });
  const columns = shown.columns.length;
  const cellAt = (event: MouseEvent): number => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left) / box.width) * columns);
    const row = Math.floor((event.clientY - box.top - HEAD) / (LINE + GAP));
    return row >= 0 && row < shown.rows.length && column >= 0 && column < columns ? row * columns + column : -1;
  };
  const jump = (cell: number): void => {
    if (cell >= 0 && shown.node[cell] > 0) select({ side: 'target', node: shown.node[cell] }, { reveal: true, centre: true });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const at = Math.max(0, cursor.value);
    const steps: Record<string, number> = { ArrowRight: at + 1, ArrowLeft: at - 1, ArrowDown: at + columns, ArrowUp: at - columns };
    if (event.key === 'Enter' || event.key === ' ') jump(cursor.value);
    else if (event.key in steps) {
      const next = steps[event.key];
      if (next >= 0 && next < shown.cls.length) cursor.value = next;
      announcement.value = cellText(shown, cursor.value);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      class="strip-grid"
      ref={host}
      role="application"
      tabIndex={0}
      aria-label={`${t('strip.label')}: ${cellText(shown, cursor.value)}`}
      title={cellText(shown, cursor.value)}
      onPointerMove={(event) => (cursor.value = cellAt(event))}
      onPointerLeave={() => (cursor.value = -1)}
      onClick={(event) => jump(cellAt(event))}
      onKeyDown={onKeyDown}
    >
      {/* Its height from the start: a canvas that is not painted yet is half as high as wide, and all below would jump. */}
      <canvas ref={canvas} aria-hidden="true" style={{ height: `${heightOf(shown)}px` }} />
    </div>
  );
}

function stackLabel(item: LayerStack): string {
  const direction = item.direction === Direction.backward ? t('direction.backward') : item.direction === Direction.forward ? t('direction.forward') : '';
  const parts = item.label.split('.');
  const several = new Set(stacks.value.map((one) => one.label)).size > 1;
  const words = several ? `${shortenMiddle(parts.slice(-2).join('.'), 22)} · ${direction}` : direction;
  return words || item.label;
}

export function LayerStrip() {
  const shown = matrix.value;
  // A strip that says nothing (a single graph without colours) only takes room.
  if (!shown || shown.columns.length < 2 || shown.cls.every((cls) => cls === 0)) return null;
  const tabs = stacks.value.slice(0, MOST_TABS);
  const at = Math.min(chosenStack.value, tabs.length - 1);
  return (
    <section class="strip" aria-label={t('strip.label')}>
      <div class="strip-names">
        <div class="strip-tools">
          {tabs.length > 1 ? (
            <select aria-label={t('strip.label')} value={String(at)} onChange={(event) => (chosenStack.value = Number((event.currentTarget as HTMLSelectElement).value))}>
              {tabs.map((item, k) => (
                <option key={k} value={String(k)}>
                  {stackLabel(item)}
                </option>
              ))}
            </select>
          ) : null}
          <button class="tool" aria-expanded={stripOpen.value} aria-label={stripOpen.value ? t('strip.hide') : t('strip.show')} title={stripOpen.value ? t('strip.hide') : t('strip.show')} onClick={() => (stripChosen.value = !stripOpen.value)}>
            {stripOpen.value ? '▾' : '▸'}
          </button>
        </div>
        {shown.rows.map((name) => (
          <span key={name} title={name}>
            {shortenMiddle(name === '' ? t('strip.whole') : name, 20)}
          </span>
        ))}
      </div>
      <Grid shown={shown} />
    </section>
  );
}
