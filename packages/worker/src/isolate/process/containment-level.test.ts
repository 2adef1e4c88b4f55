import { expect, it } from 'vitest';
import { lack } from '../testing/contain.ts';
import { availableWrappers, containmentLevel } from './containment-level.ts';
import { groupParent } from './group-parent.ts';

const memoryHere = () => (groupParent() !== null ? 'cgroup' : lack === undefined ? 'polled' : 'none');

it('says what is in force here, and tries it once', () => {
  const level = containmentLevel();
  expect(level).toMatchObject({ mark: lack === undefined, memory: memoryHere() });
  expect(containmentLevel()).toBe(level);
  expect(availableWrappers()).toBe(availableWrappers());
  expect(level.nice).toBe(availableWrappers().nice !== null);
});
