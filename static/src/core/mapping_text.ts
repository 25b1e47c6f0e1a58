/** Changes to the text of a mapping file, line by line, so that comments and order stay. Pure; what a mapping means is the server's business. */

export interface RuleLine {
  readonly scope: string;
  readonly source: string;
  readonly target: string;
}

/** A name as YAML reads it back: in quotes where it would be something else. */
function scalar(text: string): string {
  const plain = /^[A-Za-z_][A-Za-z0-9_.]*$|^\d+(\.[A-Za-z_][A-Za-z0-9_]*)+$/.test(text) && !/^(true|false|yes|no|on|off|null|y|n)$/i.test(text);
  return plain ? text : JSON.stringify(text);
}

/** "q_proj, k_proj" → "[q_proj, k_proj]"; one name stays one. An empty side is "[]": it has no counterpart. */
export function sideText(text: string): string {
  const names = text
    .replace(/^\s*\[|\]\s*$/g, '')
    .split(/[,+]/)
    .map((name) => name.trim())
    .filter(Boolean);
  return names.length === 1 ? scalar(names[0]) : `[${names.map(scalar).join(', ')}]`;
}

const INDENT = '  ';

function scopeAt(lines: readonly string[], scope: string): number {
  return lines.findIndex((text) => {
    const found = /^("(?:[^"\\]|\\.)*"|[^\s#][^:#]*?)\s*:\s*(#.*)?$/.exec(text);
    if (!found) return false;
    const key = found[1].startsWith('"') ? String(JSON.parse(found[1])) : found[1].replace(/^'(.*)'$/, '$1');
    return key === scope;
  });
}

/** Puts a rule behind the last one of its class, or a new class at the end. */
export function addRule(text: string, rule: RuleLine): string {
  const lines = text.replace(/\s+$/, '') === '' ? [] : text.replace(/\s+$/, '').split('\n');
  const entry = `${sideText(rule.source)}: ${sideText(rule.target)}`;
  const at = scopeAt(lines, rule.scope);
  if (at < 0) {
    // Before the sections that are no classes, which by custom stand last.
    const behind = lines.findIndex((line) => /^(scopes|parameters|classes)\s*:/.test(line));
    const place = behind < 0 ? lines.length : behind;
    lines.splice(place, 0, `${scalar(rule.scope)}:`, `${INDENT}${entry}`);
  } else {
    let end = at + 1;
    for (let k = end; k < lines.length && (/^\s/.test(lines[k]) || lines[k].trim() === ''); k++) if (lines[k].trim() !== '') end = k + 1;
    const indent = /^(\s+)/.exec(lines[at + 1] ?? '')?.[1] ?? INDENT;
    lines.splice(end, 0, `${indent}${entry}`);
  }
  return `${lines.join('\n')}\n`;
}

/** Whether a rule stands on one line of its own, so that it can be changed without knowing the rest; `line` counts from 1. */
export function isPlainRule(text: string, line: number): boolean {
  const lines = text.split('\n');
  const own = lines[line - 1];
  if (own === undefined || !/^\s+\S.*:\s*\S/.test(own)) return false;
  const open = (own.match(/[[{]/g) ?? []).length;
  const closed = (own.match(/[\]}]/g) ?? []).length;
  return open === closed;
}

/** Takes the rule of a line away, and its class where that was its last one. */
export function removeRule(text: string, line: number): string {
  const lines = text.split('\n');
  const indent = /^\s*/.exec(lines[line - 1] ?? '')?.[0] ?? '';
  lines.splice(line - 1, 1);
  let head = line - 2;
  while (head >= 0 && (lines[head].trim() === '' || lines[head].trim().startsWith('#'))) head--;
  const next = lines[line - 1] ?? '';
  const alone = head >= 0 && !/^\s/.test(lines[head]) && /:\s*(#.*)?$/.test(lines[head]) && !(next.startsWith(indent) && indent !== '' && next.trim() !== '');
  if (alone) lines.splice(head, 1);
  return lines.join('\n');
}

/** Writes other names into a rule's line; what stands behind them (a comment) stays. */
export function changeRule(text: string, line: number, rule: Pick<RuleLine, 'source' | 'target'>): string {
  const lines = text.split('\n');
  const own = lines[line - 1] ?? '';
  const indent = /^\s*/.exec(own)?.[0] ?? INDENT;
  const comment = /\s+#.*$/.exec(own)?.[0] ?? '';
  lines[line - 1] = `${indent}${sideText(rule.source)}: ${sideText(rule.target)}${comment}`;
  return lines.join('\n');
}

/** Line and column that an error message names; null where it names none. */
export function placeIn(message: string): { readonly line: number; readonly column: number } | null {
  const found = /line (\d+)(?:, column (\d+))?/.exec(message);
  return found ? { line: Number(found[1]), column: Number(found[2] ?? 1) } : null;
}

/** Where a line begins and ends in the text, in characters. */
export function lineRange(text: string, line: number): [number, number] {
  const lines = text.split('\n');
  const start = lines.slice(0, line - 1).reduce((sum, own) => sum + own.length + 1, 0);
  return [start, start + (lines[line - 1] ?? '').length];
}
