import { expect, it } from 'vitest';
import { lack } from '../testing/contain.ts';
import { availableWrappers, containmentLevel } from './containment-level.ts';

it('says what is in force here, and tries it once', () => {
  const level = containmentLevel();
  expect(level).toMatchObject({ mark: lack === undefined, memory: lack === undefined ? 'polled' : 'none' });
  expect(containmentLevel()).toBe(level);
  expect(availableWrappers()).toBe(availableWrappers());
  expect(level.nice).toBe(availableWrappers().nice !== null);
});
