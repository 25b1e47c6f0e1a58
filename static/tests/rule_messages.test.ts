import { describe, expect, it } from 'vitest';
import { messagesByPlace } from '../src/core/rule_messages';

const TEXT = `Attention:
  linear_qkv: [q, k, v]
  linear_proj:
    to: o
    relation: sum
Nowhere:
  a: b
scopes:
- path: net.mlp
  rules:
    fc1: up
`;
const RULES = [
  { scope: 'Attention', line: 2 },
  { scope: 'Attention', line: 3 },
  { scope: 'Nowhere', line: 7 },
  { scope: 'net.mlp', line: 11 },
];
const placed = (...lines: number[]) => messagesByPlace(TEXT, RULES, lines.map((line) => ({ line })));

describe('a message of the mapping stands beside', () => {
  it('the rule of its line', () => {
    expect([...placed(2, 7, 2).ofRule]).toEqual([[2, [{ line: 2 }, { line: 2 }]], [7, [{ line: 7 }]]]);
  });

  it('the rule of several lines that its line is in', () => {
    expect([...placed(5).ofRule.keys()]).toEqual([3]);
  });

  it('the class that its line begins, also the first one and a scope of a path', () => {
    expect([...placed(1, 6, 9).ofScope.keys()]).toEqual(['Attention', 'Nowhere', 'net.mlp']);
    expect(placed(1, 6, 9).ofRule.size).toBe(0);
  });

  it('nothing, where it is about the whole file', () => {
    expect(placed(0).rest).toEqual([{ line: 0 }]);
    expect(placed(0).ofRule.size + placed(0).ofScope.size).toBe(0);
  });
});
