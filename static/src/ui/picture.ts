/** The graphs as they are on the screen, as a picture to save. */
import { Labels } from '../paint/labels';
import { drawOverlay } from '../paint/overlay';
import { drawPane } from '../paint/pane';
import { SvgContext } from '../paint/svg_context';
import { TextFitter } from '../paint/text';
import { graph, names } from '../state/app';
import { drawLists, overlay } from '../state/scene';
import { camera, canvasSize, colours, folds } from '../state/view';
import { theme } from './theming';

const CAPTION = 26; // pixels above the graphs for what they are

function caption(): string {
  const open = graph.value;
  return open ? `${open.key.run} · step ${open.key.step} · rank ${open.key.rank}` : '';
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
  svg.font = `12px ${theme.value.family}`;
  svg.fillStyle = colour('--dim');
  svg.textAlign = 'left';
  svg.textBaseline = 'alphabetic';
  svg.fillText(caption(), 12, height + CAPTION - 9);
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
  context.fillStyle = colour('--dim');
  context.font = `${12 * ratio}px ${theme.value.family}`;
  context.fillText(caption(), 12 * ratio, canvas.height - 9 * ratio);
  return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('the picture is too large'))), 'image/png'));
}
