/** A regular expression as a tree, as far as its cost goes: what is tried one behind the other, in place of one another, and again. Pure. */

export type Piece =
  | { readonly kind: 'atom'; readonly source: string } // one character: a letter, a class, a dot
  | { readonly kind: 'empty' } // takes no character: ^, \b, and what is around
  | { readonly kind: 'sequence'; readonly parts: readonly Piece[] }
  | { readonly kind: 'choice'; readonly parts: readonly Piece[] }
  | { readonly kind: 'repeat'; readonly part: Piece; readonly least: number; readonly most: number }
  | { readonly kind: 'around'; readonly part: Piece } // lookahead, lookbehind: tried by itself, takes no character
  | { readonly kind: 'reference' }; // whatever a group has taken before

const QUANTIFIER = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})/;
const CLASS = /^\[(?:\\[\s\S]|[^\]\\])*\]/;
const ESCAPE = /^\\(?:u\{[^}]*\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|[pP]\{[^}]*\}|c[a-zA-Z]|k<[^>]*>|[1-9]\d*|[\s\S])/;
const GROUP = /^\((?:\?(?:(<?[=!])|:|<[^>=!][^>]*>))?/;

/** The tree of an expression; null where it is not understood, which says nothing of whether it is one. */
export function parseExpression(source: string): Piece | null {
  let at = 0;
  const rest = (): string => source.slice(at);

  const choice = (): Piece | null => {
    const parts: Piece[] = [];
    do {
      const part = sequence();
      if (!part) return null;
      parts.push(part);
    } while (source[at] === '|' && ++at);
    return parts.length === 1 ? parts[0] : { kind: 'choice', parts };
  };

  const sequence = (): Piece | null => {
    const parts: Piece[] = [];
    while (at < source.length && source[at] !== '|' && source[at] !== ')') {
      const part = repeated();
      if (!part) return null;
      parts.push(part);
    }
    return parts.length === 0 ? { kind: 'empty' } : { kind: 'sequence', parts };
  };

  const repeated = (): Piece | null => {
    const part = single();
    if (!part) return null;
    const found = QUANTIFIER.exec(rest());
    if (!found) return part;
    at += found[0].length;
    if (source[at] === '?') at++; // lazy: the same ways, in another order
    const [least, most] = bounds(found);
    return most < least ? null : { kind: 'repeat', part, least, most };
  };

  const single = (): Piece | null => {
    const letter = source[at];
    if (letter === '(') {
      const head = GROUP.exec(rest());
      if (!head || source.startsWith('(?', at) === (head[0].length === 1)) return null; // (? of a kind that is not known here
      at += head[0].length;
      const part = choice();
      if (!part || source[at] !== ')') return null;
      at++;
      return head[1] ? { kind: 'around', part } : part;
    }
    if (letter === '^' || letter === '$') {
      at++;
      return { kind: 'empty' };
    }
    if (letter === '*' || letter === '+' || letter === '?') return null;
    const found = letter === '[' ? CLASS.exec(rest()) : letter === '\\' ? ESCAPE.exec(rest()) : null;
    if ((letter === '[' || letter === '\\') && !found) return null;
    const text = found ? found[0] : String.fromCodePoint(source.codePointAt(at) ?? 0);
    at += text.length;
    if (/^\\[bB]$/.test(text)) return { kind: 'empty' };
    if (/^\\(?:[1-9]|k<)/.test(text)) return { kind: 'reference' };
    return { kind: 'atom', source: text };
  };

  const tree = choice();
  return at === source.length ? tree : null;
}

function bounds(found: RegExpExecArray): [number, number] {
  if (found[0] === '*') return [0, Infinity];
  if (found[0] === '+') return [1, Infinity];
  if (found[0] === '?') return [0, 1];
  const least = Number(found[1]);
  return [least, found[3] !== '' ? Number(found[3]) : found[2] ? Infinity : least];
}
