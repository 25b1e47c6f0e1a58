/** Selection, hover, marks and the curves between paired boxes: on a canvas of their own, so that moving the mouse redraws no graph. */
import type { Curve, Outline } from '../state/scene';
import type { Theme } from './theme';

const WIDTHS: Record<Outline['style'], number> = { selected: 2, around: 1.5, hover: 1, marked: 1.5, producer: 1.5 };

export function drawOverlay(context: CanvasRenderingContext2D, theme: Theme, outlines: readonly Outline[], curves: readonly Curve[], height: number): void {
  for (const outline of outlines) {
    const { item, style } = outline;
    context.strokeStyle = style === 'hover' ? theme.dim : theme.accent;
    context.lineWidth = WIDTHS[style];
    // Dashed: the node itself is hidden inside this box, or it only feeds the selected one.
    context.setLineDash(style === 'around' ? [4, 3] : style === 'producer' ? [2, 3] : []);
    const grow = style === 'hover' ? 0.5 : 1.5;
    const top = Math.max(-20, item.y - grow);
    const bottom = Math.min(height + 20, item.y + item.height + grow);
    if (bottom <= top) continue;
    context.beginPath();
    context.roundRect(item.x - grow, top, item.width + 2 * grow, bottom - top, outline.pill ? (bottom - top) / 2 : 7);
    context.stroke();
  }
  context.setLineDash([]);
  for (const curve of curves) {
    context.strokeStyle = theme.accent;
    context.lineWidth = curve.strong ? 1.6 : 1;
    context.globalAlpha = curve.strong ? 1 : 0.55;
    const bend = (curve.toX - curve.fromX) * 0.45;
    context.beginPath();
    context.moveTo(curve.fromX, curve.fromY);
    context.bezierCurveTo(curve.fromX + bend, curve.fromY, curve.toX - bend, curve.toY, curve.toX, curve.toY);
    context.stroke();
  }
  context.globalAlpha = 1;
}
