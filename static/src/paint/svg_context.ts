/** The part of a 2D canvas context that the panes are drawn with, written down as SVG. Texts become text elements, escaped. */

const BASELINES: Readonly<Record<string, string>> = { middle: 'central', top: 'text-before-edge', bottom: 'text-after-edge' };
const ANCHORS: Readonly<Record<string, string>> = { center: 'middle', right: 'end', end: 'end' };

export function escapeXml(text: string): string {
  return (
    text
      // Control characters are not allowed in XML even when escaped; lone surrogates are no characters at all.
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd')
      .replace(/&/g, '&amp;')
      .replace(/</g, '&lt;')
      .replace(/>/g, '&gt;')
      .replace(/"/g, '&quot;')
  );
}

function short(value: number): string {
  return String(Math.round(value * 100) / 100);
}

interface State {
  readonly fillStyle: string;
  readonly strokeStyle: string;
  readonly lineWidth: number;
  readonly globalAlpha: number;
  readonly font: string;
  readonly textAlign: string;
  readonly textBaseline: string;
  readonly dash: readonly number[];
  readonly clipPath: string; // id of a clipPath element, '' = none
}

export class SvgContext {
  fillStyle = '#000';
  strokeStyle = '#000';
  lineWidth = 1;
  globalAlpha = 1;
  font = '12px sans-serif';
  textAlign = 'start';
  textBaseline = 'alphabetic';
  private dash: readonly number[] = [];
  private clipPath = '';
  private path = '';
  private readonly parts: string[] = [];
  private readonly clips: string[] = [];
  private readonly kept: State[] = [];

  /** `ruler` tells how wide a text is in a font; a real context does. */
  constructor(private readonly ruler: { font: string; measureText(text: string): { readonly width: number } }) {}

  save(): void {
    const { fillStyle, strokeStyle, lineWidth, globalAlpha, font, textAlign, textBaseline, dash, clipPath } = this;
    this.kept.push({ fillStyle, strokeStyle, lineWidth, globalAlpha, font, textAlign, textBaseline, dash, clipPath });
  }

  restore(): void {
    const state = this.kept.pop();
    if (state) Object.assign(this, state);
  }

  beginPath(): void {
    this.path = '';
  }

  moveTo(x: number, y: number): void {
    this.path += `M${short(x)} ${short(y)}`;
  }

  lineTo(x: number, y: number): void {
    this.path += `L${short(x)} ${short(y)}`;
  }

  bezierCurveTo(ax: number, ay: number, bx: number, by: number, x: number, y: number): void {
    this.path += `C${[ax, ay, bx, by, x, y].map(short).join(' ')}`;
  }

  closePath(): void {
    this.path += 'Z';
  }

  rect(x: number, y: number, width: number, height: number): void {
    this.path += `M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}Z`;
  }

  /** One radius for all corners, or one each: top left, top right, bottom right, bottom left. */
  roundRect(x: number, y: number, width: number, height: number, radii: number | readonly number[] = 0): void {
    const list = typeof radii === 'number' ? [radii, radii, radii, radii] : radii.length === 1 ? [radii[0], radii[0], radii[0], radii[0]] : radii.length === 2 ? [radii[0], radii[1], radii[0], radii[1]] : radii;
    const most = Math.max(0, Math.min(width, height) / 2);
    const [a, b, c, d] = [0, 1, 2, 3].map((i) => Math.min(most, list[i] ?? 0));
    this.path +=
      `M${short(x + a)} ${short(y)}H${short(x + width - b)}A${short(b)} ${short(b)} 0 0 1 ${short(x + width)} ${short(y + b)}` +
      `V${short(y + height - c)}A${short(c)} ${short(c)} 0 0 1 ${short(x + width - c)} ${short(y + height)}` +
      `H${short(x + d)}A${short(d)} ${short(d)} 0 0 1 ${short(x)} ${short(y + height - d)}` +
      `V${short(y + a)}A${short(a)} ${short(a)} 0 0 1 ${short(x + a)} ${short(y)}Z`;
  }

  clip(): void {
    const id = `clip${this.clips.length}`;
    const inside = this.clipPath ? ` clip-path="url(#${this.clipPath})"` : '';
    this.clips.push(`<clipPath id="${id}"${inside}><path d="${this.path}"/></clipPath>`);
    this.clipPath = id;
  }

  setLineDash(dash: readonly number[]): void {
    this.dash = dash;
  }

  fill(): void {
    this.put(`<path d="${this.path}" fill="${escapeXml(this.fillStyle)}"${this.common()}/>`);
  }

  stroke(): void {
    const dash = this.dash.length > 0 ? ` stroke-dasharray="${this.dash.join(' ')}"` : '';
    this.put(`<path d="${this.path}" fill="none" stroke="${escapeXml(this.strokeStyle)}" stroke-width="${short(this.lineWidth)}"${dash}${this.common()}/>`);
  }

  fillRect(x: number, y: number, width: number, height: number): void {
    this.put(`<rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" fill="${escapeXml(this.fillStyle)}"${this.common()}/>`);
  }

  fillText(text: string, x: number, y: number): void {
    const anchor = ANCHORS[this.textAlign] ? ` text-anchor="${ANCHORS[this.textAlign]}"` : '';
    const base = BASELINES[this.textBaseline] ? ` dominant-baseline="${BASELINES[this.textBaseline]}"` : '';
    this.put(`<text x="${short(x)}" y="${short(y)}" style="font:${escapeXml(this.font)}" fill="${escapeXml(this.fillStyle)}" xml:space="preserve"${anchor}${base}${this.common()}>${escapeXml(text)}</text>`);
  }

  measureText(text: string): { readonly width: number } {
    this.ruler.font = this.font;
    return this.ruler.measureText(text);
  }

  private common(): string {
    const alpha = this.globalAlpha < 1 ? ` opacity="${short(this.globalAlpha)}"` : '';
    return this.clipPath ? `${alpha} clip-path="url(#${this.clipPath})"` : alpha;
  }

  private put(element: string): void {
    this.parts.push(element);
  }

  /** The picture so far as a document. */
  document(width: number, height: number, background: string): string {
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" width="${short(width)}" height="${short(height)}" viewBox="0 0 ${short(width)} ${short(height)}">\n` +
      `<defs>${this.clips.join('')}</defs>\n<rect width="100%" height="100%" fill="${escapeXml(background)}"/>\n${this.parts.join('\n')}\n</svg>\n`
    );
  }
}
