/** Cuts a sentence into numbers and what stands between them. */

const NUMBER = /([-−+]?\d[\d.,]*e[-−+]?\d+)/;

/** Alternately words and numbers with an exponent: browsers break a line behind the hyphen of "5.8e-2" unless told not to. */
export function numberParts(text: string): string[] {
  return text.split(NUMBER);
}
