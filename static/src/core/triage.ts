/** Which nodes a triage mark is about, and the patterns that a person may choose from when marking one. Pure. */
import { globPattern, globSource } from './name_pattern';
import { nodesWithPattern } from './name_search';
import type { TextTable } from './name_text';
import type { TriageEntry } from './marks';
import { nodeName } from './names';
import { sideOf, type Graph, type SideName } from './types';

/** Nodes of a side that an entry is about. */
export function markedNodes(graph: Graph, text: TextTable, which: SideName, entry: TriageEntry): number[] {
  const side = sideOf(graph, which);
  if (!side || entry.side !== which) return [];
  const candidates = nodesWithPattern(text, side, globPattern(entry.nodes));
  const exact = new RegExp(`^${globSource(entry.nodes)}$`, 'su'); // a mark's pattern is about the whole name
  const found: number[] = [];
  for (let node = 1; node < side.count; node++) if (candidates[node] && exact.test(nodeName(graph, side, node))) found.push(node);
  return found;
}

export interface PatternChoice {
  readonly id: 'call' | 'calls' | 'layers' | 'inside' | 'class';
  readonly pattern: string;
}

/** From one call to a class everywhere; only what differs from the narrower ones. A name that holds * or ? itself can only be matched loosely. */
export function patternChoices(name: string): PatternChoice[] {
  const choices: PatternChoice[] = [{ id: 'call', pattern: name }];
  const add = (id: PatternChoice['id'], pattern: string): void => {
    if (!choices.some((choice) => choice.pattern === pattern)) choices.push({ id, pattern });
  };
  const module = /^(.*)\.([^.]*[^.\d][^.]*)\.(forward|backward|parameters_grad)(\.\d+)?$/s.exec(name);
  if (module) {
    const [, path, type, direction] = module;
    const number = module[4] === undefined ? '' : '.*';
    add('calls', `${path}.${type}.${direction}${number}`);
    add('layers', `${path.replace(/\.\d+(?=\.|$)/g, '.*')}.${type}.${direction}${number}`);
    add('inside', `${path}.*`);
    add('class', `*.${type}.${direction}${number}`);
  } else {
    const api = /^(.*)\.(\d+)\.(forward|backward)(.*)$/s.exec(name);
    if (api) add('calls', `${api[1]}.*.${api[3]}${api[4]}`);
  }
  return choices;
}
