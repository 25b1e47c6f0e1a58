import { describe, expect, it } from 'vitest';
import { literalIn } from '../src/core/expression_literal';
import { nodeName } from '../src/core/names';
import { nodesWithPattern } from '../src/core/name_search';
import { NameGroups } from '../src/core/name_expression';
import { textTable } from '../src/core/name_text';
import { parseQuery } from '../src/core/query';
import { search, searching } from '../src/core/search';
import { smallGraph, type NodeLine } from './small_graph';

const lines: NodeLine[] = [{ depth: 1, name: 'Module.model.Model.forward.0' }];
for (let call = 0; call < 120; call += 7) {
  lines.push({ depth: 2, name: `Module.model.layers.${call % 13}.mlp.MLP.forward.${call % 3}` });
  lines.push({ depth: 3, name: `Functional.linear.${call}.forward` });
  lines.push({ depth: 3, name: `Functional.linear.${call}.backward` });
}
const graph = smallGraph(lines, null, []);
const table = textTable(graph.strings.utf8, graph.strings.end);
const names = Array.from({ length: graph.target.count }, (_, node) => nodeName(graph, graph.target, node).toLowerCase());
const EXPRESSIONS = [
  '^module.*mlp', 'forward$', '\\d\\d\\.f', '\\.\\d{2}\\.', '1', '[13]\\.', '[^.]+$', 'linear\\.(1|2)', '(\\d)\\1', '(?<d>\\d)\\k<d>', 'mlp|linear', 'l.n', 'linear\\..\\.', 'x?linear', 'forwards?', '\\.{1}', '^.{20}$', 'lin(ear)?',
];

describe('a regular expression', () => {
  it.each(EXPRESSIONS)('%s finds what it finds in the full names', (source) => {
    const term = parseQuery(`/${source}/`).terms[0];
    expect(term.kind).toBe('name');
    if (term.kind !== 'name') return;
    const expression = new RegExp(source, 'i');
    expect(Array.from(nodesWithPattern(table, graph.target, term.pattern)).slice(1)).toEqual(names.slice(1).map((name) => (expression.test(name) ? 1 : 0)));
  });

  it('counts for the calls inside what it fits, and the other way round with a minus', () => {
    const index = { graph, text: table, dtypes: { target: null, golden: null }, numbers: {}, expected: { target: new Set<number>(), golden: new Set<number>() } };
    const at = (text: string): number[] => [...search(index, parseQuery(text), 'call').rows];
    const inMlp = names.map((name, node) => (node > 1 && (name.includes('mlp') || names[graph.target.parent[node]].includes('mlp')) ? node : -1)).filter((node) => node > 0);
    expect(at('/m.p/')).toEqual(inMlp);
    expect(at('-/m.p/')).toEqual([1]);
    expect(at('/m.p/ kind:api dir:forward')).toEqual(inMlp.filter((node) => names[node].endsWith('forward')));
  });

  it('is worked out in steps, so that a long search keeps nobody waiting, and ends with the same hits', () => {
    const many = smallGraph(Array.from({ length: 5000 }, (_, call) => ({ depth: 1, name: `Functional.linear.${call}.forward` })), null, []);
    const index = { graph: many, text: textTable(many.strings.utf8, many.strings.end), dtypes: { target: null, golden: null }, numbers: {}, expected: { target: new Set<number>(), golden: new Set<number>() } };
    const steps = searching(index, parseQuery('/[13]/'), 'call');
    let taken = 0;
    let step = steps.next();
    for (; !step.done; step = steps.next()) taken++;
    expect(taken).toBeGreaterThan(1);
    expect(step.value.rows.length).toBe(Array.from({ length: 5000 }, (_, call) => String(call)).filter((call) => /[13]/.test(call)).length);
  });
});

describe('names in groups', () => {
  const worked = (pieces: number): NameGroups => {
    const groups = new NameGroups(graph.target, table.end.length);
    for (let limit = pieces; !groups.workOut(limit); limit += pieces);
    return groups;
  };

  it('share one exactly where they differ in the digits of the call number alone', () => {
    const { of } = worked(1000);
    const call = /(\.)(\d+)(\.(?:forward|backward))?$/;
    const shape = names.map((name) => name.replace(call, (_, dot, digits: string, after = '') => `${dot}${'#'.repeat(digits.length)}${after}`));
    for (let a = 1; a < names.length; a++) for (let b = 1; b < a; b++) expect(of[a] === of[b], `${names[a]} and ${names[b]}`).toBe(shape[a] === shape[b]);
  });

  it('are the same when they are worked out piece by piece', () => {
    expect([...worked(2).of]).toEqual([...worked(1000).of]);
  });
});

describe('the text that every hit of an expression holds', () => {
  it.each([
    ['^Module.*norm', 'module'], ['\\.mlp\\.', '.mlp.'], ['a(bcd)e', 'a'], ['abc|de', ''], ['ab*cde', 'cde'], ['ab+c', 'ab'], ['x{2}yy', 'yy'], ['lin[ea]r', 'lin'], ['\\x41bc', ''], ['\\dnorm', 'norm'], ['classic', 'cla'], ['', ''],
  ])('%s: %s', (source, literal) => {
    expect(literalIn(source)).toBe(literal);
  });
});
