import { expect, test } from 'vitest';
import { chosenOf, orderOf } from './rounds.ts';

test('over as many rounds as there are systems, each runs once in every place', () => {
  const systems = ['a', 'b', 'c'];
  const rounds = [0, 1, 2].map((round) => orderOf(systems, round));
  for (const place of [0, 1, 2]) expect(rounds.map((order) => order[place]).sort()).toEqual(systems);
  for (const order of rounds) expect(order.toSorted()).toEqual(systems);
});

test('only systems that were asked for and can run here are run', () => {
  const all = ['waybill', 'graphile-worker', 'bullmq'];
  const missing = { bullmq: 'there is no Redis' };
  expect(chosenOf(all, { wanted: undefined, missing })).toEqual(['waybill', 'graphile-worker']);
  expect(chosenOf(all, { wanted: ['bullmq', 'waybill'], missing })).toEqual(['waybill']);
  expect(chosenOf(all, { wanted: ['bullmq'], missing: {} })).toEqual(['bullmq']);
});
