import { beforeEach, describe, expect, it } from 'vitest';
import { repetition } from './repetition.ts';
import { Story } from './testing/story.ts';

let story: Story;
let id: string;
beforeEach(() => {
  story = new Story();
  id = story.job({ call: 'one', idempotencyKey: 'one' });
  story.note({ kind: 'refused', call: 'one', code: 'unavailable' });
  story.note({ kind: 'answered', call: 'one', for: 'job', ids: [id] });
  expect(story.found(repetition)).toEqual([]);
});

describe('guarantee 10: finds', () => {
  it('a call that is answered with another job', () => {
    story.note({ kind: 'answered', call: 'one', for: 'job', ids: ['other'] });
    expect(story.found(repetition)).toEqual([`call one was answered with different jobs: ${id}, other`]);
  });

  it('a call that has made two jobs, also where nobody was told of the second', () => {
    const again = story.job({ call: 'one', idempotencyKey: 'one' });
    story.notes.pop();
    expect(story.found(repetition)).toEqual([
      `call one has made job ${id} and job ${again}`,
      `idempotency key one has job ${id} and job ${again}`,
    ]);
  });

  it('a call that has made two workflows', () => {
    for (const w of ['w1', 'w2']) story.workflows.push({ id: w, name: 'two', state: 'completed', nodes: [] });
    expect(story.found(repetition)).toEqual(['call two has made workflow w1 and workflow w2']);
  });

  it('a settle that is refused when repeated', () => {
    const settled = { kind: 'settled', id, run: 1, again: true } as const;
    story.note({ ...settled, outcome: 'completed', answer: 'ok' });
    story.note({ ...settled, outcome: 'completed', answer: 'unavailable' });
    story.note({ ...settled, outcome: 'failed', answer: 'lease_lost' });
    expect(story.found(repetition)).toEqual([]);
    story.note({ ...settled, outcome: 'completed', answer: 'lease_lost' });
    expect(story.found(repetition)).toEqual([`worker-1#1 completed run 1 of job ${id}, and again: lease_lost`]);
  });

  it('a claim that gives out more when repeated', () => {
    story.note({ kind: 'claimed-again', claim: 'c', extra: [] });
    expect(story.found(repetition)).toEqual([]);
    story.note({ kind: 'claimed-again', claim: 'd', extra: [id] });
    expect(story.found(repetition)).toEqual([`claim d of worker-1#1 gave out more when repeated: ${id}`]);
  });
});
