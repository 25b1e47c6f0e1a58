/** Whether trying a regular expression may take for ever: nothing can interrupt one that does, and the page would stand still. */
import { parseExpression, type Piece } from './expression_syntax';
import { waysOf } from './expression_ways';

const MOST_WAYS = 300_000; // in which one name can be taken; each costs nanoseconds
const FAR = 8; // times from which a repeat counts as one without end beside a reference

interface Repeats {
  readonly endless: number;
  readonly references: number;
  readonly repeatedReferences: boolean; // one stands inside a repeat
}

function repeatsOf(piece: Piece, repeated = false): Repeats {
  const inside = piece.kind === 'repeat' && piece.most > FAR;
  const parts = 'parts' in piece ? piece.parts : 'part' in piece ? [piece.part] : [];
  let endless = inside ? 1 : 0;
  let references = piece.kind === 'reference' ? 1 : 0;
  let repeatedReferences = piece.kind === 'reference' && repeated;
  for (const part of parts) {
    const found = repeatsOf(part, repeated || inside);
    endless += found.endless;
    references += found.references;
    repeatedReferences ||= found.repeatedReferences;
  }
  return { endless, references, repeatedReferences };
}

/** True where a text can be taken in too many ways, as by (a+)+ or (a|a)* or by many .* in a row; and for references to groups beside repeats. */
export function mayNeverEnd(source: string): boolean {
  const piece = parseExpression(source);
  if (piece === null) return true;
  // What a reference takes is not known beforehand.
  const { endless, references, repeatedReferences } = repeatsOf(piece);
  if (repeatedReferences || (references > 0 && endless > 1)) return true;
  return waysOf(piece) > MOST_WAYS;
}
