/** Keeps the two canvases of the panes current: one for the graphs, one for selection and hover. Draws only when something changed. */
import { effect } from '@preact/signals';
import type { ReadonlySignal } from '@preact/signals';
import { locale } from '../i18n/locale';
import { colours, camera, canvasSize, folds, layout, producers, textMeasure } from '../state/view';
import { graph, hovered, marked, names, selection } from '../state/app';
import { frameTimes } from '../state/frame_times';
import { drawLists, overlay } from '../state/scene';
import { Labels } from './labels';
import { drawOverlay } from './overlay';
import { drawPane, FONT_SIZE } from './pane';
import { TextFitter } from './text';
import type { Theme } from './theme';

/** Gives a canvas a size in CSS pixels and clears it. Its memory is only asked for anew where the size changes. */
export function fitCanvas(canvas: HTMLCanvasElement, context: CanvasRenderingContext2D, width: number, height: number): void {
  const ratio = globalThis.devicePixelRatio || 1;
  const pixelWidth = Math.round(width * ratio);
  const pixelHeight = Math.round(height * ratio);
  if (canvas.width !== pixelWidth || canvas.height !== pixelHeight) {
    canvas.width = pixelWidth;
    canvas.height = pixelHeight;
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
}

/** Starts drawing; returns what stops it. */
export function startPainting(base: HTMLCanvasElement, over: HTMLCanvasElement, theme: ReadonlySignal<Theme>): () => void {
  const context = base.getContext('2d');
  const overContext = over.getContext('2d');
  const measuring = document.createElement('canvas').getContext('2d');
  if (!context || !overContext || !measuring) throw new Error('this browser gives no 2D canvas');
  const text = new TextFitter(context);

  let labels: Labels | null = null;
  const stopLabels = effect(() => {
    void locale.value;
    const parts = { graph: graph.value, names: names.value, colouring: colours.value, folds: folds.value };
    labels = parts.graph && parts.names && parts.colouring && parts.folds ? new Labels(parts as ConstructorParameters<typeof Labels>[0]) : null;
  });
  const stopRuler = effect(() => {
    measuring.font = `${FONT_SIZE - 1}px ${theme.value.family}`;
    textMeasure.value = (words) => measuring.measureText(words).width;
  });

  let frame = 0;
  let stale = true;
  const paint = (): void => {
    frame = 0;
    const { width, height } = canvasSize.value;
    if (width === 0 || height === 0) return;
    if (stale) {
      stale = false;
      const begun = performance.now();
      fitCanvas(base, context, width, height);
      if (labels && colours.value) {
        const brush = { context, theme: theme.value, text, labels, colouring: colours.value, zoom: Math.max(1, camera.value.scale) };
        for (const list of drawLists()) drawPane(brush, list, height);
      }
      frameTimes.last = performance.now() - begun;
      frameTimes.frames++;
    }
    fitCanvas(over, overContext, width, height);
    const { outlines, curves } = overlay();
    drawOverlay(overContext, theme.value, outlines, curves, height);
  };
  const schedule = (): void => {
    if (frame === 0) frame = requestAnimationFrame(paint);
  };
  const stopBase = effect(() => {
    void [layout.value, camera.value, colours.value, canvasSize.value, theme.value, locale.value];
    stale = true;
    schedule();
  });
  const stopOver = effect(() => {
    void [selection.value, hovered.value, marked.value, producers.value];
    schedule();
  });
  // Another zoom or another screen can leave the size in CSS pixels as it is.
  let sharpness = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
  const onSharpness = (): void => {
    sharpness.removeEventListener('change', onSharpness);
    sharpness = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
    sharpness.addEventListener('change', onSharpness);
    stale = true;
    schedule();
  };
  sharpness.addEventListener('change', onSharpness);
  return () => {
    sharpness.removeEventListener('change', onSharpness);
    for (const stop of [stopLabels, stopRuler, stopBase, stopOver]) stop();
    cancelAnimationFrame(frame);
  };
}
