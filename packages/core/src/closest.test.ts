import { expect, test } from 'vitest';
import { didYouMean } from './closest.ts';

test('a word that is near is proposed, one that is far is not', () => {
  expect(didYouMean('schem', ['pool', 'schema'])).toBe(" Did you mean 'schema'?");
  expect(didYouMean('colour', ['pool', 'schema'])).toBe('');
});

test('two letters in the wrong order are one mistake', () => {
  expect(didYouMean('titel', ['title', 'note'])).toBe(" Did you mean 'title'?");
  expect(didYouMean('tenat', ['tenant'])).toBe(" Did you mean 'tenant'?");
});
