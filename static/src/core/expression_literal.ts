/** What every hit of a regular expression must hold: most names are then ruled out by a plain search. */

/** End of the bracketed part that begins at `from`: behind its closing bracket or parenthesis. */
function behind(source: string, from: number): number {
  let depth = 0;
  let inClass = false;
  for (let at = from; at < source.length; at++) {
    const letter = source[at];
    if (letter === '\\') at++;
    else if (inClass) inClass = letter !== ']';
    else if (letter === '[') inClass = true;
    else if (letter === '(') depth++;
    else if (letter === ')') depth--;
    if (depth === 0 && !inClass) return at + 1;
  }
  return source.length;
}

/**
 * The longest text, in lower case, that a case-insensitive expression cannot do without; '' where none is certain.
 * Only what stands outside of groups counts. `s` is left out: "ſ" is another case of it, which lower case keeps.
 */
export function literalIn(source: string): string {
  let longest = '';
  let run = '';
  const finish = (): void => {
    if (run.length > longest.length) longest = run;
    run = '';
  };
  for (let at = 0; at < source.length; ) {
    let letter = source[at];
    if (letter === '|') return '';
    if (letter === '(' || letter === '[') {
      finish();
      at = behind(source, at);
      continue;
    }
    at++;
    if (letter === '\\') {
      letter = source[at++] ?? '';
      if (/[a-z\d]/i.test(letter)) {
        if (!/[dwsbtnrvf]/i.test(letter)) return ''; // \x41, \u{41}, \p{L}, \1 …
        finish();
        continue;
      }
    } else if ('*?{'.includes(letter)) {
      run = run.slice(0, -1); // what stands before may be missing
      finish();
      if (letter === '{') at = Math.max(at, source.indexOf('}', at) + 1);
      continue;
    } else if ('+.^$'.includes(letter)) {
      finish();
      continue;
    }
    if (letter > '~' || letter === 's' || letter === 'S') finish();
    else run += letter.toLowerCase();
  }
  finish();
  return longest;
}
