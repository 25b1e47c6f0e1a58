import { describe, expect, it } from 'vitest';
import { globPattern } from '../src/core/name_pattern';
import { hasValue, parseQuery, setValue, toggleValue, valueOf } from '../src/core/query';

const terms = (text: string) => parseQuery(text).terms;
const problems = (text: string) => parseQuery(text).problems;

describe('query language', () => {
  it('reads names, numbers and properties in one line', () => {
    const [name, number, property] = terms('layers.1?.mlp norm_err>0.01 is:introduced');
    expect(name).toMatchObject({ kind: 'name', not: false });
    expect(number).toMatchObject({ kind: 'number', field: 'norm_err', low: 0.01, lowOpen: true, high: Infinity });
    expect(property).toMatchObject({ kind: 'is', values: ['introduced'] });
    expect(problems('layers.1?.mlp norm_err>0.01 is:introduced')).toEqual([]);
  });

  it('takes ? for one character and * for any number, everything else literally', () => {
    const { literal, expression } = globPattern('layers.1?.mlp');
    expect(literal).toBe('layers.1');
    expect(expression?.test('model.layers.12.mlp')).toBe(true);
    expect(expression?.test('model.layers.1.mlp')).toBe(false);
    expect(expression?.test('model.layersx12.mlp')).toBe(false);
    expect(globPattern('Linear').expression).toBeNull();
  });

  it.each([
    ['error>=1e-3', { low: 1e-3, lowOpen: false, high: Infinity }],
    ['error<5%', { low: -Infinity, high: 0.05, highOpen: true }],
    ['error:1e-3..0.1', { low: 1e-3, high: 0.1 }],
    ['micro=2', { field: 'micro', low: 2, high: 2 }],
    ['error=inf', { low: Infinity, high: Infinity }],
    ['gain>2', { field: 'gain', low: 2 }],
    ['err>0.1', { field: 'error', low: 0.1 }],
    ['MAX_ERR>1', { field: 'max_err', low: 1 }],
    ['cosine<0.99', { field: 'cosine', high: 0.99, highOpen: true }],
    ['max_relative_err:0..1', { field: 'max_rel_err', low: 0, high: 1 }],
  ])('reads the condition %s', (text, expected) => {
    expect(terms(text)[0]).toMatchObject(expected);
  });

  it('joins several values of a property by or', () => {
    expect(terms('is:introduced,parameter')[0]).toMatchObject({ values: ['introduced', 'parameter'] });
  });

  it('negates a term with a minus, but leaves a minus inside a word alone', () => {
    expect(terms('-is:unmatched')[0]).toMatchObject({ not: true, kind: 'is' });
    expect(terms('a-b')[0]).toMatchObject({ not: false, pattern: { literal: 'a-b' } });
  });

  it('takes quoted text literally, with spaces and wildcards', () => {
    expect(terms('"a * b"')[0]).toMatchObject({ kind: 'name', pattern: { literal: 'a * b', expression: null } });
  });

  it('takes a slash for a regular expression, and says when it is none', () => {
    const [term] = terms('/^Module.*norm\\d$/');
    expect(term.kind === 'name' && term.pattern.expression?.test('module.x.NORM1')).toBe(true);
    expect(problems('/(/')).toMatchObject([{ code: 'expression', from: 0, to: 3 }]);
  });

  it('does not lose what is being typed: an open quote or expression counts as text', () => {
    expect(terms('/layers')[0]).toMatchObject({ pattern: { literal: 'layers' } });
    expect(problems('/layers')).toMatchObject([{ code: 'quote' }]);
  });

  it.each([
    ['is:introduce', 'value', 'introduced'],
    ['is:foo', 'value', 'introduced, parameter'],
    ['eror>1', 'key', 'error'],
    ['statsu:error', 'key', 'status'],
    ['clas:Linear', 'key', 'class'],
    ['foo>1', 'noNumber', 'error, input'],
    ['error>x', 'number', ''],
    ['error>', 'number', ''],
  ])('says what is wrong with %s and what was meant', (text, code, hint) => {
    const [problem] = problems(text);
    expect(problem.code).toBe(code);
    expect(problem.hint.startsWith(hint)).toBe(true);
    expect(terms(text)).toEqual([]);
  });

  it('looks for a word with a colon in names where no key is near, and names all keys', () => {
    expect(terms('foo:bar')).toMatchObject([{ kind: 'name', pattern: { literal: 'foo:bar' } }]);
    const [problem] = problems('foo:bar');
    expect(problem.code).toBe('noKey');
    for (const key of ['is', 'side', 'status', 'cause', 'how', 'in', 'class', 'dtype', 'error', 'norm_err', 'cosine']) expect(problem.hint.split(', ')).toContain(key);
    expect(problems('aten::add')).toEqual([]);
  });

  it('never throws, whatever is typed', () => {
    for (const text of ['', ' ', '-', '--', '"', '/', '/\\', ':', '::', '>', 'a:b:c', '\u202e', '😀?', 'is:', 'error:..', '(', 'x"y', 'class:"']) {
      expect(() => parseQuery(text)).not.toThrow();
    }
  });

  it('does not take words of the language of objects for its own', () => {
    expect(terms('constructor>1')).toEqual([]);
    expect(problems('constructor>1')[0].code).toBe('noNumber');
    expect(problems('is:toString')[0].code).toBe('value');
  });
});

describe('menus over the query', () => {
  it('switches a value on and off and joins values of one key', () => {
    expect(toggleValue('mlp', 'is', 'error')).toBe('mlp is:error');
    expect(toggleValue('mlp is:error', 'is', 'warning')).toBe('mlp is:error,warning');
    expect(toggleValue('mlp is:error,warning', 'is', 'error')).toBe('mlp is:warning');
    expect(toggleValue('is:warning mlp', 'is', 'warning')).toBe('mlp');
    expect(hasValue('mlp is:error,warning', 'is', 'warning')).toBe(true);
    expect(hasValue('"is:warning"', 'is', 'warning')).toBe(false);
  });

  it('sets one value of a key, and takes it away again', () => {
    expect(setValue('mlp kind:api norm', 'kind', 'module')).toBe('mlp norm kind:module');
    expect(setValue('mlp kind:api norm', 'kind', '')).toBe('mlp norm');
    expect(setValue('', 'class', 'My Layer')).toBe('class:"My Layer"');
    expect(valueOf('class:"My Layer" kind:api', 'class')).toBe('My Layer');
    expect(valueOf('-kind:api', 'kind')).toBe('');
  });
});
