/** What names are looked for by: a text with ? and *, or a regular expression, and what every hit must hold. */
import { literalIn } from './expression_literal';

/** What a name is looked for by. `literal` is lower case and must occur in every hit; `expression` decides where it is not enough. */
export interface NamePattern {
  readonly literal: string;
  readonly expression: RegExp | null;
}

const SPECIAL = /[.*+?^${}()|[\]\\/]/g;

/** The regular expression of a text in which * stands for anything and ? for one character. */
export function globSource(text: string): string {
  return text
    .split(/([*?])/)
    .map((part) => (part === '*' ? '.*' : part === '?' ? '.' : part.replace(SPECIAL, '\\$&')))
    .join('');
}

/** A part of a name with ? and * in it. */
export function globPattern(text: string): NamePattern {
  const lower = text.toLowerCase();
  if (!/[*?]/.test(lower)) return { literal: lower, expression: null };
  const literal = lower.split(/[*?]+/).reduce((longest, part) => (part.length > longest.length ? part : longest), '');
  return { literal, expression: new RegExp(globSource(lower), 'isu') };
}

/** A part of a name as a regular expression; null where it is none. */
export function expressionPattern(source: string): NamePattern | null {
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
