import { expect, it } from 'vitest';
import { numberParts } from '../src/core/number_parts';

it('numbers with an exponent stand apart from the words around them, and nothing is lost', () => {
  const text = 'relative norm error 5.8e-2, tolerance 5.0e-5; Min differs: −1.2e+10 against 0.31';
  const parts = numberParts(text);
  expect(parts.filter((_, i) => i % 2 === 1)).toEqual(['5.8e-2', '5.0e-5', '−1.2e+10']);
  expect(parts.join('')).toBe(text);
});

it('names are no numbers', () => {
  expect(numberParts('layers.2e-proj differs')).toEqual(['layers.2e-proj differs']);
  expect(numberParts('')).toEqual(['']);
});
