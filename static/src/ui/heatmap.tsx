/** The difference map beside the table of tensors: where a tensor differs, token by channel, and the numbers of any place. */
import { useEffect, useRef } from 'preact/hooks';
import {
  cellAt, cellByKey, cellRange, colourPlace, colourScale, elementIndex, heatmapPixels, heatmapRequest, MARK, palette, scaleMiddle,
  type ColourScale, type Heatmap, type Palette,
} from '../core/heatmap';
import type { DetailRow } from '../core/details';
import { formatCount, formatError, formatStatistic } from '../core/format';
import { local, t } from '../i18n';
import { dark, exported } from '../state/app';
import { closeHeatmap, heatmap, heatmapCell, heatmapView, openHeatmap } from '../state/heatmap';
import { rowName } from './detail_words';
import { theme } from './theming';

/** Beside a row whose elements lie in files on both sides. */
export function MapButton({ row }: { readonly row: DetailRow }) {
  if (heatmapRequest(row) === null || exported.value) return null; // the dump is not in an exported page
  const on = heatmap.value?.row === row;
  return (
    <button class={on ? 'tag map on' : 'tag map'} aria-pressed={on} aria-label={t('heatmap.openLabel', { tensor: rowName(row) })} onClick={() => (on ? closeHeatmap() : void openHeatmap(row))}>
      {t('heatmap.open')}
    </button>
  );
}

const OUTLINE = 2;
const LARGEST_RING = 24; // pixels; around a longer cell (of a bias, say) a ring would hide what lies beside it

function outline(context: CanvasRenderingContext2D, map: Heatmap, cell: number, width: number, height: number, colour: string, back: string, round: boolean): void {
  const [w, h] = [width / map.columns, height / map.rows];
  const x = (cell % map.columns) * w;
  const y = Math.floor(cell / map.columns) * h;
  for (const [line, style] of [[OUTLINE + 2, back], [OUTLINE, colour]] as const) {
    context.lineWidth = line;
    context.strokeStyle = style;
    context.beginPath();
    if (round && Math.max(w, h) <= LARGEST_RING) context.arc(x + w / 2, y + h / 2, Math.max(6, Math.hypot(w, h) / 2 + 2), 0, 2 * Math.PI);
    else context.rect(x - 1, y - 1, w + 2, h + 2);
    context.stroke();
  }
}

function paint(canvas: HTMLCanvasElement, map: Heatmap, scale: ColourScale, colours: Palette, chosen: number, ink: string, back: string): void {
  const ratio = window.devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  const context = canvas.getContext('2d');
  if (!context || map.worstCell < 0) return;
  const small = document.createElement('canvas');
  small.width = map.columns;
  small.height = map.rows;
  small.getContext('2d')?.putImageData(new ImageData(heatmapPixels(map, scale, colours), map.columns, map.rows), 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(small, 0, 0, canvas.width, canvas.height);
  context.scale(ratio, ratio);
  if (map.differing > 0) outline(context, map, map.worstCell, width, height, '#e8590c', back, true);
  if (chosen >= 0) outline(context, map, chosen, width, height, ink, back, false);
}

function useRepaint(draw: (canvas: HTMLCanvasElement) => void) {
  const host = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const canvas = host.current;
    if (!canvas) return undefined;
    draw(canvas);
    const watch = new ResizeObserver(() => draw(canvas));
    watch.observe(canvas);
    return () => watch.disconnect();
  });
  return host;
}

function Picture({ map, scale, colours, name }: { readonly map: Heatmap; readonly scale: ColourScale; readonly colours: Palette; readonly name: string }) {
  const { ink, panel } = theme.value;
  const chosen = heatmapCell.value;
  const host = useRepaint((canvas) => paint(canvas, map, scale, colours, chosen, ink, panel));
  const point = (event: PointerEvent): void => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    heatmapCell.value = cellAt(map, event.clientX - box.left, event.clientY - box.top, box.width, box.height);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = event.ctrlKey || event.altKey || event.metaKey ? null : cellByKey(map, heatmapCell.value, event.key);
    if (next === null) return;
    event.preventDefault();
    event.stopPropagation();
    heatmapCell.value = next;
  };
  const [tokens, channels] = [formatCount(map.tokens), formatCount(map.channels)];
  return (
    <div class="heatmap-map">
      <span class="down">
        {map.shape.length > 1 ? `${tokens} ${t(map.tokens === 1 ? 'heatmap.token' : 'heatmap.tokens')}` : ''}
      </span>
      <div class="heatmap-canvas" role="application" tabIndex={0} aria-label={`${name}. ${t('heatmap.axes', { tokens, channels })}`} onKeyDown={onKeyDown} onPointerMove={point} onPointerDown={point} onPointerLeave={() => (heatmapCell.value = -1)}>
        <canvas ref={host} aria-hidden="true" />
      </div>
      <span class="across">
        {channels} {t(map.channels === 1 ? 'heatmap.channel' : 'heatmap.channels')}
      </span>
    </div>
  );
}

function rangeWords([first, behind]: readonly [number, number]): string {
  return behind - first === 1 ? String(first) : t('heatmap.range', { first, last: behind - 1 });
}

/** What a cell holds: its place, its worst element, both values there. */
function Facts({ map }: { readonly map: Heatmap }) {
  const whole = heatmapCell.value < 0;
  const cell = whole ? map.worstCell : heatmapCell.value;
  const number = map.worst[cell];
  const index = whole ? map.worstIndex : elementIndex(map.shape, number);
  const tokens = cellRange(map.tokens, map.rows, Math.floor(cell / map.columns));
  const channels = cellRange(map.channels, map.columns, cell % map.columns);
  const count = (tokens[1] - tokens[0]) * (channels[1] - channels[0]);
  const difference = whole ? map.worstDifference : map.largest[cell];
  const token = Math.floor(number / map.channels);
  const mismatch = (map.marks[cell] & MARK.mismatch) !== 0;
  return (
    <div role="status">
      <h3>{whole ? t('heatmap.worstElement') : count > 1 ? t('heatmap.worstOfCell', { count: formatCount(count) }) : t('heatmap.element')}</h3>
      <dl>
        {map.shape.length > 1 ? (
          <>
            <dt>{t('heatmap.token')}</dt>
            <dd>{whole ? token : rangeWords(tokens)}</dd>
          </>
        ) : null}
        <dt>{t('heatmap.channel')}</dt>
        <dd>{whole ? number % map.channels : rangeWords(channels)}</dd>
        {map.shape.length > 2 || (count > 1 && !whole) ? (
          <>
            <dt>{t('heatmap.element')}</dt>
            <dd>[{index.join(', ')}]</dd>
          </>
        ) : null}
        <dt>{t('side.target')}</dt>
        <dd>{formatStatistic(whole ? map.worstTarget : map.target[cell])}</dd>
        <dt>{t('side.golden')}</dt>
        <dd>{formatStatistic(whole ? map.worstGolden : map.golden[cell])}</dd>
        <dt>{t('heatmap.difference')}</dt>
        <dd>
          {formatStatistic(difference)}
          {mismatch ? <div class="dim">{t('heatmap.noNumber')}</div> : map.scale > 0 && difference > 0 ? <div class="dim">{t('heatmap.ofScale', { ratio: formatError(difference / map.scale), rms: formatError(map.scale) })}</div> : null}
        </dd>
        {count > 1 && Number.isFinite(map.mean[cell]) ? (
          <>
            <dt>{t('heatmap.cellMean')}</dt>
            <dd>{formatStatistic(map.mean[cell])}</dd>
          </>
        ) : null}
      </dl>
      {!mismatch && map.marks[cell] ? <p class="dim">{t('heatmap.bothNonfinite')}</p> : null}
    </div>
  );
}

function paintLegend(canvas: HTMLCanvasElement, colours: Palette): void {
  canvas.width = 256;
  canvas.height = 1;
  canvas.getContext('2d')?.putImageData(new ImageData(new Uint8ClampedArray(colours.colours), 256, 1), 0, 0);
}

const css = (colour: readonly number[]): string => `rgb(${colour.join(',')})`;

function Legend({ map, scale, colours }: { readonly map: Heatmap; readonly scale: ColourScale; readonly colours: Palette }) {
  const host = useRepaint((canvas) => paintLegend(canvas, colours));
  const mismatches = map.marks.some((mark) => mark & MARK.mismatch);
  const even = scale.low >= scale.high;
  return (
    <div class="heatmap-legend" role="group" aria-label={t('heatmap.legend')}>
      {scale.high > 0 ? (
        <>
          <canvas ref={host} aria-hidden="true" />
          <div class="ticks">
            {(even ? [scale.high] : [scale.low, scaleMiddle(scale), scale.high]).map((value) => (
              <span key={value}>{value < 0 ? `−${formatError(-value)}` : formatError(value)}</span>
            ))}
          </div>
        </>
      ) : null}
      {scale.view === 'largest' && map.largest.some((value) => colourPlace(scale, value) < 0) ? (
        <span class="entry">
          <span class="swatch" style={{ background: css(colours.equal) }} />
          {t('heatmap.legendEqual')}
        </span>
      ) : null}
      {mismatches ? (
        <span class="entry">
          <span class="swatch" style={{ background: css(colours.noNumber) }} />
          {t('heatmap.noNumber')}
        </span>
      ) : null}
    </div>
  );
}

function Ready({ map, name }: { readonly map: Heatmap; readonly name: string }) {
  const count = formatCount(map.tokens * map.channels);
  if (map.worstCell < 0) return <p class="dim">{t('heatmap.empty')}</p>;
  if (map.differing === 0 && !map.marks.some((mark) => mark !== 0)) {
    // A map in one colour with a "worst" place in it would only puzzle.
    return (
      <div class="heatmap-equal">
        <p>{t('heatmap.equal', { count })}</p>
        {map.layout ? <p class="dim">{t('details.layout', { layout: map.layout })}</p> : null}
      </div>
    );
  }
  const scale = colourScale(map, heatmapView.value);
  const colours = palette(heatmapView.value, dark.value);
  return (
    <div class="heatmap-body">
      <Picture map={map} scale={scale} colours={colours} name={name} />
      <div class="heatmap-facts scrolls" tabIndex={0} role="region" aria-label={t('heatmap.element')}>
        <p class="dim">{map.differing === 0 ? t('heatmap.equal', { count }) : t('heatmap.differing', { differing: formatCount(map.differing), count })}</p>
        <Facts map={map} />
        <Legend map={map} scale={scale} colours={colours} />
        {map.layout ? <p class="dim">{t('details.layout', { layout: map.layout })}</p> : null}
      </div>
    </div>
  );
}

export function HeatmapPanel() {
  const open = heatmap.value;
  if (!open) return null;
  const name = t('heatmap.title', { tensor: rowName(open.row) });
  const close = (): void => {
    closeHeatmap();
    document.querySelector<HTMLElement>('.details-body')?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    close();
  };
  return (
    <section class="heatmap" aria-label={name} aria-busy={!open.map && !open.problem} onKeyDown={onKeyDown}>
      <header>
        <h2 title={name}>{name}</h2>
        <span class="grow" />
        {open.map && open.map.differing > 0 ? (
          <select aria-label={t('heatmap.view')} value={heatmapView.value} onChange={(event) => (heatmapView.value = event.currentTarget.value === 'mean' ? 'mean' : 'largest')}>
            <option value="largest">{t('heatmap.largest')}</option>
            <option value="mean">{t('heatmap.mean')}</option>
          </select>
        ) : null}
        <button class="tag" aria-label={t('heatmap.close')} title={t('heatmap.close')} onClick={close}>
          ✕
        </button>
      </header>
      {open.map ? <Ready map={open.map} name={name} /> : open.problem ? <p role="alert">{t('heatmap.unavailable', { why: local(open.problem) })}</p> : <p class="dim" role="status">{t('heatmap.loading')}</p>}
    </section>
  );
}
