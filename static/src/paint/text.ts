/** Text on a canvas: measured once, shortened in the middle so that it never leaves its box. */

const WIDTHS_KEPT = 20_000;

export class TextFitter {
  private readonly widths = new Map<string, number>();
  private readonly fitted = new Map<string, string>();
  private font = '';

  constructor(private readonly context: CanvasRenderingContext2D) {}

  setFont(font: string): void {
    if (this.context.font !== font) this.context.font = font;
    this.font = font;
  }

  measure(text: string): number {
    const key = `${this.font}|${text}`;
    let width = this.widths.get(key);
    if (width === undefined) {
      width = this.context.measureText(text).width;
      if (this.widths.size > WIDTHS_KEPT) this.widths.clear();
      this.widths.set(key, width);
    }
    return width;
  }

  /** The text itself when it fits, else both of its ends with "…" between; "" when not even that fits. */
  fit(text: string, room: number): string {
    if (room <= 0) return '';
    if (text.length * 2 < room / 8 || this.measure(text) <= room) return text;
    const key = `${this.font}|${Math.floor(room)}|${text}`;
    let result = this.fitted.get(key);
    if (result === undefined) {
      const characters = Array.from(text);
      let low = 0; // characters kept that surely fit
      let high = characters.length;
      const cut = (keep: number): string => {
        const tail = Math.ceil(keep * 0.6);
        return `${characters.slice(0, keep - tail).join('')}…${characters.slice(characters.length - tail).join('')}`;
      };
      while (low + 1 < high) {
        const middle = (low + high) >> 1;
        if (this.context.measureText(cut(middle)).width <= room) low = middle;
        else high = middle;
      }
      result = low > 0 ? cut(low) : '';
      if (this.fitted.size > WIDTHS_KEPT) this.fitted.clear();
      this.fitted.set(key, result);
    }
    return result;
  }
}
