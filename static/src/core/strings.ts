/** The string table of a graph file: one UTF-8 blob, strings decoded when somebody asks for them. */

export class StringTable {
  readonly count: number;
  private readonly decoder = new TextDecoder('utf-8', { ignoreBOM: true }) /* U+FEFF at the start of a name is part of it */;
  private readonly decoded = new Map<number, string>();
  private readonly ascii: string | null;

  /** `end[i]` is the offset behind string i in `utf8`. */
  constructor(
    readonly utf8: Uint8Array,
    readonly end: Uint32Array,
  ) {
    this.count = end.length;
    // Names are nearly always ASCII: then one decoding serves all strings, each a slice at its byte offsets.
    const whole = this.decoder.decode(utf8);
    this.ascii = whole.length === utf8.length ? whole : null;
  }

  static of(strings: readonly string[]): StringTable {
    const encoder = new TextEncoder();
    const parts = strings.map((text) => encoder.encode(text));
    const utf8 = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    const end = new Uint32Array(parts.length);
    let at = 0;
    parts.forEach((part, i) => {
      utf8.set(part, at);
      at += part.length;
      end[i] = at;
    });
    return new StringTable(utf8, end);
  }

  get(index: number): string {
    if (this.ascii !== null) return this.ascii.slice(index > 0 ? this.end[index - 1] : 0, this.end[index]);
    let text = this.decoded.get(index);
    if (text === undefined) {
      text = this.decoder.decode(this.utf8.subarray(index > 0 ? this.end[index - 1] : 0, this.end[index]));
      this.decoded.set(index, text);
    }
    return text;
  }
}
