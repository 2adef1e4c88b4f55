import { describe, expect, it } from 'vitest';
import { exclusion } from './exclusion.ts';
import { tooMany } from './spans.ts';
import { Story } from './testing/story.ts';

describe.each([
  ['by the order of the log', true],
  ['by what is certain', false],
])('guarantee 7, %s: finds', (_, isOrderExact) => {
  const tale = (): Story => Object.assign(new Story(), { isOrderExact });

  it('two live jobs with one unique key', () => {
    const story = tale();
    const first = story.job({ uniqueKey: 'k' });
    story.begin(first);
    story.end(first);
    const second = story.job({ uniqueKey: 'k' });
    story.begin(second);
    story.pass(100);
    story.end(second);
    expect(story.found(exclusion)).toEqual([]);

    const [third, fourth] = [story.job({ uniqueKey: 'k' }), story.job({ uniqueKey: 'k' })];
    for (const id of [third, fourth]) {
      story.begin(id);
      story.pass(100);
      story.end(id);
    }
    expect(story.found(exclusion)).toEqual([`live at once with unique key k: job ${third}, job ${fourth}`]);
  });

  it('more leases than a limit allows', () => {
    const story = tale();
    const ids = Array.from({ length: 4 }, () => story.job({ limitKey: 'chaos-three', holdsSlot: true }));
    for (const id of ids.slice(0, 3)) story.begin(id);
    story.pass(100);
    for (const id of ids.slice(0, 3)) story.end(id);
    expect(story.found(exclusion)).toEqual([]);

    const more = Array.from({ length: 3 }, () => story.job({ limitKey: 'chaos-three', holdsSlot: true }));
    const last = [ids[3]!, ...more];
    for (const id of last) story.begin(id);
    story.pass(100);
    for (const id of last) story.end(id);
    const runs = last.map((id) => `run 1 of job ${id}`).join(', ');
    expect(story.found(exclusion)).toEqual([`more than 3 leases at once of limit chaos-three: ${runs}`]);
  });

  it('more starts than a rate allows', () => {
    const story = tale();
    const startSome = (count: number) => {
      for (let n = 0; n < count; n += 1) {
        const id = story.job({ limitKey: 'chaos-rate', holdsSlot: true });
        story.begin(id);
        story.end(id);
      }
    };
    startSome(6);
    story.pass(1_000);
    startSome(6);
    expect(story.found(exclusion)).toEqual([]);
    startSome(1);
    expect(story.found(exclusion)).toEqual([
      expect.stringMatching(/^more than 6 starts in 1000 ms of limit chaos-rate: /),
    ]);
  });
});

describe('spans', () => {
  const span = (name: string, from: number, to: number) => ({ name, from, to });

  it('that only touch do not overlap', () => {
    expect(tooMany([span('b', 2, 3), span('a', 1, 2), span('none', 5, 1)], 1)).toBeUndefined();
    expect(tooMany([span('a', 1, 3), span('b', 2, 4), span('c', 3, 5)], 2)).toBeUndefined();
    expect(tooMany([span('a', 1, 4), span('b', 2, 4), span('c', 3, 5)], 2)).toEqual(['a', 'b', 'c']);
  });
});
