import { describe, expect, it } from 'vitest';
import { changed, foreignChanges, historyOf, joined, marksAsYaml, marksOf, NO_MARKS, redone, takenAway, undone, withAdded, withMatches, withoutAdded, withoutMatch, withTriage, type MatchEntry, type Marks, type TriageEntry } from '../src/core/marks';

const match = (target: string, golden: string, extra: Partial<MatchEntry> = {}): MatchEntry => ({ action: 'match', target: [target], golden: [golden], relation: 'same', ...extra });
const mark = (nodes: string, extra: Partial<TriageEntry> = {}): TriageEntry => ({ nodes, side: 'target', verdict: 'expected', ...extra });
const marks = (...matches: MatchEntry[]): Marks => ({ ...NO_MARKS, matches });

describe('history', () => {
  it('goes back and forward, and a new change ends what could be redone', () => {
    let history = historyOf(NO_MARKS);
    history = changed(history, marks(match('a', 'x')));
    history = changed(history, marks(match('a', 'x'), match('b', 'y')));
    history = undone(history);
    expect(history.now).toEqual(marks(match('a', 'x')));
    expect(redone(history).now.matches).toHaveLength(2);
    history = changed(undone(history), marks(match('c', 'z')));
    expect(redone(history)).toBe(history);
    expect(undone(undone(undone(history))).now).toEqual(NO_MARKS);
  });
});

describe('entries', () => {
  it('about the same nodes replace each other', () => {
    const once = withMatches(marks(match('a', 'x'), match('b', 'y')), [match('a', 'x', { action: 'unmatch' })]);
    expect(once.matches.map((entry) => [entry.target[0], entry.action])).toEqual([['b', 'match'], ['a', 'unmatch']]);
    expect(withoutMatch(once, once.matches[0]).matches).toHaveLength(1);
    expect(withTriage(withTriage(NO_MARKS, mark('a*')), mark('a*', { verdict: 'ignored' })).triage).toEqual([mark('a*', { verdict: 'ignored' })]);
  });
});

describe('two people at once', () => {
  const base = marks(match('a', 'x'), match('b', 'y'));

  it('keep what each of them added', () => {
    const result = joined(base, marks(...base.matches, match('mine', '1')), marks(...base.matches, match('theirs', '2', { author: 'B' })));
    expect(result.matches.map((entry) => entry.target[0])).toEqual(['a', 'b', 'theirs', 'mine']);
  });

  it('lose what either of them removed', () => {
    expect(joined(base, marks(match('a', 'x')), base).matches).toEqual([match('a', 'x')]);
    expect(joined(base, base, marks(match('b', 'y'))).matches).toEqual([match('b', 'y')]);
  });

  it('do not get an entry twice because both made it', () => {
    const both = joined(NO_MARKS, marks(match('a', 'x', { author: 'A' })), marks(match('a', 'x', { author: 'B' })));
    expect(both.matches).toHaveLength(1);
  });

  it('are told what the other one did', () => {
    expect(foreignChanges(base, { ...base, matches: [...base.matches, match('theirs', '2')], triage: [mark('n')] })).toEqual([match('theirs', '2'), mark('n')]);
  });
});

describe('the mapping that was put into force', () => {
  const mapping = (text: string): Marks['mapping'] => ({ name: 'mine.yaml', text, author: 'A' });
  const own = (text: string): Marks => ({ ...NO_MARKS, mapping: mapping(text) });

  it('is that of the one who changed it; the later writer decides where both did', () => {
    expect(joined(own('a'), own('a'), own('b')).mapping?.text).toBe('b');
    expect(joined(own('a'), own('c'), own('b')).mapping?.text).toBe('c');
    expect(joined(own('a'), NO_MARKS, own('a')).mapping).toBeNull();
    expect(foreignChanges(own('a'), own('b'))).toEqual([mapping('b')]);
    expect(foreignChanges(own('a'), { ...own('a'), mapping: { name: 'mine.yaml', text: 'a', author: 'B' } })).toEqual([]);
  });

  it('is part of the file, and of an answer only where it has a text', () => {
    expect(marksAsYaml(own('MLP:\n  a: b\n'))).toContain('mapping: {"name":"mine.yaml","text":"MLP:\\n  a: b\\n","author":"A"}');
    expect(marksOf({ ...own('x') })).toEqual(own('x'));
    expect(marksOf({ mapping: { name: 'a' } } as Partial<Marks>)).toEqual(NO_MARKS);
    expect(marksOf(null)).toEqual(NO_MARKS);
  });
});

describe('the file', () => {
  it('holds any text in quotes', () => {
    const text = marksAsYaml({ ...NO_MARKS, matches: [match('a"\n: [', '<img src=x>')], triage: [mark('*')] });
    expect(text).toContain('"a\\"\\n: ["');
    expect(text.split('\n').filter((line) => line.startsWith('- '))).toHaveLength(2);
    expect(marksAsYaml(NO_MARKS)).toContain('matches: []');
  });
});

describe('lists of everything inside of a large node', () => {
  const many = Array.from({ length: 20_000 }, (_, number) => match(`target.${number}`, `golden.${number}`));

  it('are changed in the time of their length', () => {
    const began = performance.now();
    const again = withMatches(marks(...many), many);
    expect(again.matches).toHaveLength(many.length);
    expect(takenAway(again, withoutMatch(again, again.matches[7]))).toEqual([many[7]]);
    expect(withAdded(NO_MARKS, [...many, ...many]).matches).toHaveLength(many.length);
    expect(withoutAdded(again, many, NO_MARKS)).toEqual(NO_MARKS);
    expect(performance.now() - began).toBeLessThan(3000); // comparing each with each took minutes
  });
});

describe('the file that is downloaded', () => {
  it('holds names that YAML would not take as they are', () => {
    const odd = '\u0085\u2028\u2029\u007f\ufeff\uffff\ud800"\\';
    const text = marksAsYaml({ ...marks(match(odd, 'x')), mapping: { name: odd, text: odd } });
    expect(text).not.toMatch(/[\u007f-\u009f\u2028\u2029\ud800-\udfff\ufeff\uffff]/);
    expect(text).toContain('target: ["\\u0085\\u2028\\u2029\\u007f\\ufeff\\uffff\\ud800\\"\\\\"]');
  });
});
