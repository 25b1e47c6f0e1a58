import { describe, expect, it } from 'vitest';
import { mayNeverEnd } from '../src/core/expression_cost';
import { expressionPattern, globPattern } from '../src/core/name_pattern';

describe('an expression that could stop the page', () => {
  it.each(['(((.*)*)*)*x', '(a+)+$', '(\\w+\\s?)*$', '(a|a)*$', '((a|aa))+x', '(?:.{1,99})+x', '(a*){30}', '.*.*.*.*x', 'a?'.repeat(30) + 'a{30}', '(.*)(.*)\\1x', '([a-z]+)*y'])('%s is not tried', (source) => {
    expect(mayNeverEnd(source)).toBe(true);
    expect(expressionPattern(source)).toBe(null);
  });

  it.each(['layers\\.(1|2)\\.', 'layers\\.\\d+\\.mlp.*forward', '^Module\\.(?:model|net)\\..*\\.\\d+$', '(attn|mlp)?', '(abc)+', '[*+(]+x', '\\(a+\\)+', 'layers\\.[0-9]{1,2}\\.'])('%s is', (source) => {
    expect(mayNeverEnd(source)).toBe(false);
    expect(expressionPattern(source)).not.toBe(null);
  });

  it('is never made of a text with many stars', () => {
    for (const text of ['*a'.repeat(40) + '*x', '*'.repeat(200) + 'x', 'a?*'.repeat(30) + 'x']) {
      const { expression } = globPattern(text);
      const before = performance.now();
      expect(expression?.test('a'.repeat(300))).toBe(false);
      expect(performance.now() - before).toBeLessThan(500);
    }
    expect(globPattern('b*c?e*g').expression?.test('abxcdefg')).toBe(true);
    expect(globPattern('a*b').expression?.test('b a')).toBe(false);
    expect(globPattern('*').expression?.test('anything')).toBe(true);
  });
});
