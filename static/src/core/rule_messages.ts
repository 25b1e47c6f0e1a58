/** Which rule or class of a mapping file a message is about, by its line. Pure. */

export interface Placed {
  readonly line: number; // 0 = of the whole file
}

export interface RulePlace {
  readonly scope: string;
  readonly line: number;
}

export interface MessagesByPlace<M extends Placed> {
  readonly ofRule: ReadonlyMap<number, readonly M[]>; // by the rule's line
  readonly ofScope: ReadonlyMap<string, readonly M[]>;
  readonly rest: readonly M[];
}

function put<K, M>(map: Map<K, M[]>, key: K, item: M): void {
  const known = map.get(key);
  if (known) known.push(item);
  else map.set(key, [item]);
}

/** A line that begins a class or scope is less indented than the rule behind it. */
function indent(line: string): number {
  return /^[\s-]*/.exec(line)?.[0].length ?? 0;
}

export function messagesByPlace<M extends Placed>(text: string, rules: readonly RulePlace[], messages: readonly M[]): MessagesByPlace<M> {
  const lines = text.split('\n');
  const sorted = [...rules].sort((a, b) => a.line - b.line);
  const ofRule = new Map<number, M[]>();
  const ofScope = new Map<string, M[]>();
  const rest: M[] = [];
  for (const message of messages) {
    const before = message.line > 0 ? sorted.filter((rule) => rule.line <= message.line).at(-1) : undefined;
    const behind = message.line > 0 ? sorted.find((rule) => rule.line > message.line) : undefined;
    const heads = behind !== undefined && behind.scope !== before?.scope && indent(lines[message.line - 1] ?? '') < indent(lines[behind.line - 1] ?? '');
    if (before?.line === message.line) put(ofRule, before.line, message);
    else if (heads) put(ofScope, behind.scope, message);
    else if (before && indent(lines[message.line - 1] ?? '') > indent(lines[before.line - 1] ?? '')) put(ofRule, before.line, message); // a rule of several lines
    else rest.push(message);
  }
  return { ofRule, ofScope, rest };
}
