import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SlotMap } from './slots.ts';

test('keeps what a Map would keep, whatever comes and goes', () => {
  const key = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  const step = fc.record({ key, does: fc.constantFrom('set', 'delete') });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const [slots, map] = [new SlotMap<object>(), new Map<string, object>()];
      for (const { key, does } of steps) {
        const item = {};
        // Set again, a key of a Map keeps its place; here it is the newest.
        map.delete(key);
        slots.delete(key);
        if (does === 'set') {
          map.set(key, item);
          slots.set(key, item);
        }
        expect(slots.size).toBe(map.size);
        expect(slots.oldest()).toBe(map.keys().next().value);
        expect(new Set(slots.all())).toEqual(new Set(map.values()));
        for (const [known, kept] of map) expect(slots.get(known)).toBe(kept);
      }
      expect(slots.get('unknown')).toBeUndefined();
    }),
  );
});

test('a key that is set again holds only the newer', () => {
  const slots = new SlotMap<number>();
  slots.set('a', 1);
  slots.set('a', 2);
  expect(slots.get('a')).toBe(2);
  expect(slots.all()).toEqual([2]);
});
