import { expect, it } from 'vitest';
import { Patience } from './patience.ts';

it('lasts for as long as something moves, and a while longer', () => {
  let now = 0;
  const patience = new Patience(() => now);
  const at = (ms: number, place: string): boolean => {
    now = ms;
    return patience.lasts(place);
  };
  expect([at(0, 'a'), at(89_999, 'a'), at(90_000, 'b'), at(179_999, 'b'), at(180_000, 'b')]).toEqual([
    ...[true, true, true, true, false],
  ]);
});

it('ends although something moves for ever', () => {
  let now = 0;
  const patience = new Patience(() => now);
  let steps = 0;
  while (patience.lasts(steps)) {
    steps++;
    now += 60_000;
  }
  expect(steps).toBe(15);
});
