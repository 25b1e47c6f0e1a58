/** The graphs as they are on the screen, as a picture to save. */
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

const CAPTION = 46; // pixels below the graphs for what they are and what their colours mean
const SQUARE = 11;
const MARGIN = 12;

function caption(): string {
  const open = graph.value;
  if (!open) return '';
  const sides = open.golden ? [`${t('side.target')} ↔ ${t('side.golden')}`] : [];
  return [open.key.run, `${t('pick.step')} ${open.key.step}`, `${t('pick.rank')} ${open.key.rank}`, ...sides].join(' · ');
}

/** Which graphs these are, and the legend. */
function drawCaption(context: CanvasRenderingContext2D, width: number, top: number): void {
  const colouring = colours.value;
  context.fillStyle = colour('--bg');
  context.fillRect(0, top, width, CAPTION); // boxes may reach below the picture
  context.font = `12px ${theme.value.family}`;
  context.textAlign = 'left';
  context.textBaseline = 'alphabetic';
  context.fillStyle = colour('--ink');
  context.fillText(caption(), MARGIN, top + 18);
  if (!colouring) return;
  let x = MARGIN;
  for (const { item } of legendEntries()) {
    const words = `${item.sign ? `${item.sign} ` : ''}${className(item, colouring.mode)}`;
    context.fillStyle = theme.value.fill(item);
    context.fillRect(x, top + 27, SQUARE, SQUARE);
    context.fillStyle = colour('--dim');
    context.fillText(words, x + SQUARE + 5, top + 37);
    x += SQUARE + 5 + context.measureText(words).width + 14;
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
  drawCaption(context, width, height);
  return svg.document(width, height + CAPTION, colour('--bg'));
}

export async function pictureAsPng(): Promise<Blob> {
  const layers = [...document.querySelectorAll<HTMLCanvasElement>('.canvas-host > canvas')];
  const ratio = globalThis.devicePixelRatio || 1;
  const canvas = document.createElement('canvas');
  canvas.width = layers[0]?.width ?? 1;
  canvas.height = (layers[0]?.height ?? 1) + Math.round(CAPTION * ratio);
  const context = canvas.getContext('2d');
  if (!context) throw new Error('this browser gives no 2D canvas');
  context.fillStyle = colour('--bg');
  context.fillRect(0, 0, canvas.width, canvas.height);
  for (const layer of layers) context.drawImage(layer, 0, 0);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  drawCaption(context, canvas.width / ratio, canvas.height / ratio - CAPTION);
  return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('the picture is too large'))), 'image/png'));
}
