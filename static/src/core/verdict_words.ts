/** The word that a list of graphs has for each of them (docs/http_api.md), and the sign that stands for it. Pure. */

export type VerdictWord = 'parameter' | 'introduced' | 'inherited' | 'warning' | 'clean';

/** Worst first. */
const WORDS: readonly VerdictWord[] = ['parameter', 'introduced', 'inherited', 'warning', 'clean'];
export const VERDICT_SIGNS: Readonly<Record<VerdictWord, string>> = { parameter: '◆', introduced: '▲', inherited: '↓', warning: '!', clean: '✓' };

/** Something in it differs beyond tolerance. */
export function isBad(word: string | undefined): boolean {
  return word === 'parameter' || word === 'introduced' || word === 'inherited';
}

/** The worst of several graphs; null where nothing is known of any, or nothing was measured. */
export function worstVerdict(graphs: readonly { readonly verdict?: string }[]): VerdictWord | null {
  return WORDS.find((word) => graphs.some((item) => item.verdict === word)) ?? null;
}
