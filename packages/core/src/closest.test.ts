import { expect, test } from 'vitest';
import { didYouMean } from './closest.ts';

test('a word that is near is proposed, one that is far is not', () => {
  expect(didYouMean('schem', ['pool', 'schema'])).toBe(" Did you mean 'schema'?");
  expect(didYouMean('colour', ['pool', 'schema'])).toBe('');
});
