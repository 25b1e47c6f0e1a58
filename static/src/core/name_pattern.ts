/** What names are looked for by: a text with ? and *, or a regular expression, and what every hit must hold. */
import { mayNeverEnd } from './expression_cost';
import { literalIn } from './expression_literal';

/** What a name is looked for by. `literal` is lower case and must occur in every hit; `expression` decides where it is not enough. */
export interface NamePattern {
  readonly literal: string;
  readonly expression: RegExp | null;
}

const SPECIAL = /[.*+?^${}()|[\]\\/]/g;

function literalSource(text: string): string {
  return text
    .split('?')
    .map((part) => part.replace(SPECIAL, '\\$&'))
    .join('.');
}

const FEW_STARS = 3; // going back and forth between so many is quick

/**
 * The regular expression of a text in which * stands for anything and ? for one character. Between many stars a text is taken where it
 * comes first and never looked for again (a lookahead gives nothing back), since trying all places would take for ever.
 */
export function globSource(text: string): string {
  const parts = text.split(/\*+/).map(literalSource);
  const last = parts.length - 1;
  const between = (part: string, i: number): string => (last <= FEW_STARS || i === last ? `.*${part}` : `(?=(?<between${i}>.*?${part}))\\k<between${i}>`);
  return parts.map((part, i) => (i === 0 ? part : between(part, i))).join('');
}

/** A part of a name with ? and * in it. */
export function globPattern(text: string): NamePattern {
  const lower = text.toLowerCase();
  if (!/[*?]/.test(lower)) return { literal: lower, expression: null };
  const literal = lower.split(/[*?]+/).reduce((longest, part) => (part.length > longest.length ? part : longest), '');
  return { literal, expression: new RegExp(globSource(lower.replace(/^\*+|\*+$/g, '')), 'isu') };
}

/** A part of a name as a regular expression; null where it is none, or one that may take for ever. */
export function expressionPattern(source: string): NamePattern | null {
  if (mayNeverEnd(source)) return null;
  try {
    return { literal: literalIn(source), expression: new RegExp(source, 'iu') };
  } catch {
    try {
      return { literal: literalIn(source), expression: new RegExp(source, 'i') };
    } catch {
      return null;
    }
  }
}
