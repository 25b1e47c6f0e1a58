/** Whether trying a regular expression may take for ever: nothing can interrupt one that does, and the page would stand still. */

const MOST_OPEN_ENDS = 3; // unbounded repeats that may all give back what they took: the time grows with a name's length to this power

interface Group {
  repeats: boolean; // something inside is repeated without end
  branches: boolean;
}

/** Length of the quantifier at `at` (0: none), and whether it has no end, or one that is far. */
function quantifier(source: string, at: number): { readonly length: number; readonly endless: boolean } {
  const letter = source[at];
  if (letter === '*' || letter === '+') return { length: 1, endless: true };
  if (letter === '?') return { length: 1, endless: false };
  const counted = /^\{(\d+)(,?)(\d*)\}/.exec(source.slice(at, at + 24));
  if (!counted) return { length: 0, endless: false };
  const most = counted[3] !== '' ? Number(counted[3]) : counted[2] ? Number.POSITIVE_INFINITY : Number(counted[1]);
  return { length: counted[0].length, endless: most > 8 };
}

/** True for a repeated group with a repeat or a choice inside, such as (a+)+ or (a|b)*, for many repeats in a row, and for references to groups beside repeats. */
export function mayNeverEnd(source: string): boolean {
  const open: Group[] = [{ repeats: false, branches: false }];
  let openEnds = 0;
  let optional = 0;
  let references = false;
  for (let at = 0; at < source.length; ) {
    const letter = source[at];
    let closed: Group | null = null;
    if (letter === '(') {
      open.push({ repeats: false, branches: false });
      at += /^\(\?(?:[:=!]|<[=!]|<[^>]*>)/.exec(source.slice(at, at + 200))?.[0].length ?? 1;
      continue;
    }
    if (letter === '|') {
      open[open.length - 1].branches = true;
      at++;
      continue;
    }
    if (letter === ')' && open.length > 1) closed = open.pop() ?? null;
    if (letter === '\\') {
      references ||= /[1-9k]/.test(source[at + 1] ?? '');
      at += 2;
    } else if (letter === '[') {
      for (at++; at < source.length && source[at] !== ']'; at++) if (source[at] === '\\') at++;
      at++;
    } else at++;
    const { length, endless } = quantifier(source, at);
    at += length;
    if (length > 0 && source[at] === '?') at++; // lazy
    const around = open[open.length - 1];
    if (endless) {
      openEnds++;
      if (closed?.repeats || closed?.branches) return true;
    } else if (length > 0) optional++;
    around.repeats ||= length > 0 || Boolean(closed?.repeats);
    around.branches ||= Boolean(closed?.branches);
  }
  return openEnds > MOST_OPEN_ENDS || optional > 16 || (references && openEnds > 1);
}
