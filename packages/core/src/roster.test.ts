import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Roster } from './roster.ts';

const step = fc.record({
  does: fc.constantFrom('set', 'set', 'delete'),
  key: fc.nat(9),
  thing: fc.string(),
});

test('a roster holds what a Map would, in its order', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const roster = new Roster<number, string>();
      const map = new Map<number, string>();
      for (const { does, key, thing } of steps) {
        if (does === 'delete') expect(roster.delete(key)).toBe(map.delete(key));
        else {
          roster.set(key, thing);
          map.set(key, thing);
        }
        expect(roster.all()).toEqual([...map.values()]);
        expect([roster.size, roster.oldest()]).toEqual([map.size, map.keys().next().value]);
        expect(roster.get(key)).toBe(map.get(key));
      }
    }),
  );
});
