/** The graphs as they are on the screen, as a picture to save. */
import type { ColourClass } from '../core/colour_class';
import { Labels } from '../paint/labels';
import { drawOverlay } from '../paint/overlay';
import { drawPane } from '../paint/pane';
import { SvgContext } from '../paint/svg_context';
import { TextFitter } from '../paint/text';
import { graph, names } from '../state/app';
import { drawLists, overlay } from '../state/scene';
import { camera, canvasSize, colours, folds } from '../state/view';
import { t } from '../i18n';
import { className } from '../i18n/class_names';
import { legendEntries } from './legend';
import { theme } from './theming';

const CAPTION = 46; // pixels below the graphs for what they are and what their colours mean, where one line is enough for the colours
const LINE = 18;
const SQUARE = 11;
const MARGIN = 12;

/** Of a long name of a run only its ends; the rest is what tells pictures of one run apart. */
function caption(text: TextFitter, room: number): string {
  const open = graph.value;
  if (!open) return '';
  const sides = open.golden ? [`${t('side.target')} ↔ ${t('side.golden')}`] : [];
  const rest = [`${t('pick.step')} ${open.key.step}`, `${t('pick.rank')} ${open.key.rank}`, ...sides].join(' · ');
  const run = text.fit(open.key.run, room - text.measure(` · ${rest}`));
  return text.fit(run ? `${run} · ${rest}` : rest, room);
}

interface LegendPlace {
  readonly item: ColourClass;
  readonly words: string;
  readonly x: number;
  readonly line: number;
}

/** The legend in as many lines as a picture of that width takes. Sets the font. */
function legendPlaces(context: CanvasRenderingContext2D, width: number): LegendPlace[] {
  const colouring = colours.value;
  context.font = `12px ${theme.value.family}`;
  let x = MARGIN;
  let line = 0;
  return (colouring ? legendEntries() : []).map(({ item }) => {
    const words = `${item.sign ? `${item.sign} ` : ''}${colouring ? className(item, colouring.mode) : ''}`;
    const wide = SQUARE + 5 + context.measureText(words).width;
    if (x > MARGIN && x + wide > width - MARGIN) {
      x = MARGIN;
      line++;
    }
    const place = { item, words, x, line };
    x += wide + 14;
    return place;
  });
}

function captionHeight(places: readonly LegendPlace[]): number {
  return CAPTION + LINE * (places.at(-1)?.line ?? 0);
}

/** Which graphs these are, and the legend. */
function drawCaption(context: CanvasRenderingContext2D, width: number, top: number, places: readonly LegendPlace[]): void {
  context.fillStyle = colour('--bg');
  context.fillRect(0, top, width, captionHeight(places)); // boxes may reach below the picture
  const text = new TextFitter(context);
  text.setFont(`12px ${theme.value.family}`);
  context.textAlign = 'left';
  context.textBaseline = 'alphabetic';
  context.fillStyle = colour('--ink');
  context.fillText(caption(text, width - 2 * MARGIN), MARGIN, top + 18);
  for (const { item, words, x, line } of places) {
    context.fillStyle = theme.value.fill(item);
    context.fillRect(x, top + LINE * line + 27, SQUARE, SQUARE);
    context.fillStyle = colour('--dim');
    context.fillText(words, x + SQUARE + 5, top + LINE * line + 37);
  }
}

function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim() || '#fff';
}

export function pictureAsSvg(): string {
  const ruler = document.createElement('canvas').getContext('2d');
  const parts = { graph: graph.value, names: names.value, colouring: colours.value, folds: folds.value };
  if (!ruler || !parts.graph || !parts.names || !parts.colouring || !parts.folds) return '';
  const { width, height } = canvasSize.value;
  const svg = new SvgContext(ruler);
  // It has the methods and fields that the panes use.
  const context = svg as unknown as CanvasRenderingContext2D;
  const labels = new Labels(parts as ConstructorParameters<typeof Labels>[0]);
  const brush = { context, theme: theme.value, text: new TextFitter(context), labels, colouring: parts.colouring, zoom: Math.max(1, camera.value.scale) };
  for (const list of drawLists()) drawPane(brush, list, height);
  const { outlines, curves } = overlay();
  drawOverlay(context, theme.value, outlines, curves, height);
  const places = legendPlaces(context, width);
  drawCaption(context, width, height, places);
  return svg.document(width, height + captionHeight(places), colour('--bg'));
}

export async function pictureAsPng(): Promise<Blob> {
  const layers = [...document.querySelectorAll<HTMLCanvasElement>('.canvas-host > canvas')];
  const ratio = globalThis.devicePixelRatio || 1;
  const canvas = document.createElement('canvas');
  const context = canvas.getContext('2d');
  if (!context) throw new Error('this browser gives no 2D canvas');
  const [width, height] = [layers[0]?.width ?? 1, layers[0]?.height ?? 1];
  const places = legendPlaces(context, width / ratio);
  canvas.width = width;
  canvas.height = height + Math.round(captionHeight(places) * ratio);
  context.fillStyle = colour('--bg');
  context.fillRect(0, 0, canvas.width, canvas.height);
  for (const layer of layers) context.drawImage(layer, 0, 0);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  drawCaption(context, width / ratio, height / ratio, places);
  return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('the picture is too large'))), 'image/png'));
}
