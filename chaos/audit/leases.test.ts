import { beforeEach, describe, expect, it } from 'vitest';
import { leases } from './leases.ts';
import { Story } from './testing/story.ts';

let story: Story;
let id: string;
beforeEach(() => {
  story = new Story();
  id = story.job();
});

describe('guarantee 2: finds', () => {
  it('a run that begins while another is live', () => {
    story.begin(id);
    story.plant(id, 'job.started', 2);
    expect(story.found(leases)).toContain(`run 2 of job ${id} began while run 1 was live`);
  });

  it('a run that was given out twice', () => {
    story.begin(id);
    story.note({ kind: 'start', id, run: 1, parents: [] }, 'worker-2#1');
    expect(story.found(leases)).toEqual([`run 1 of job ${id} was given to worker-1#1 and worker-2#1`]);
  });

  it('a run without a lease', () => {
    story.note({ kind: 'start', id, run: 1, parents: [] });
    expect(story.found(leases)).toEqual([`run 1 of job ${id} was worked on, and the log has no start of it`]);
  });

  it('a lease that ends before its time', () => {
    story.begin(id);
    story.row(id, { leaseUntil: story.now + 100 });
    story.expire(id);
    expect(story.found(leases)).toEqual([expect.stringMatching(/^the lease of run 1 of job .* after \d+ ms of 2500$/)]);
  });

  it('a run that ends before its handler does', () => {
    story.begin(id);
    story.end(id);
    expect(story.found(leases)).toEqual([]);
    story.notes = story.notes.filter(({ kind }) => kind !== 'end');
    expect(story.found(leases)).toEqual([`run 1 of job ${id} has job.completed before its handler came to its end`]);
  });

  it('a run that is snoozed before its handler has ended, and not one that was put off before it came to a worker', () => {
    story.begin(id);
    story.change(id, { do: 'settle', outcome: { kind: 'snoozed', until: story.now + 10_000 } });
    expect(story.found(leases)).toEqual([`run 1 of job ${id} has job.snoozed before its handler came to its end`]);
    story.notes = story.notes.filter(({ kind }) => kind !== 'start');
    expect(story.found(leases)).toEqual([]);
    story.note({ kind: 'settled', id, run: 1, outcome: 'snoozed', answer: 'ok', again: false });
    expect(story.found(leases)).toEqual([`run 1 of job ${id} has job.snoozed before its handler came to its end`]);
  });

  it('a run that begins before the last one had ended', () => {
    story.begin(id);
    story.expire(id);
    story.begin(id, 'worker-2#1');
    expect(story.found(leases)).toEqual([]);
    const early = story.notes.at(-1)!;
    early.at -= 1_000;
    expect(story.found(leases)).toEqual([`run 2 of job ${id} was begun by worker-2#1 before run 1 had ended`]);
  });

  it('runs that are not counted one by one', () => {
    story.begin(id);
    story.expire(id);
    story.row(id, { run: 2 });
    story.begin(id);
    expect(story.found(leases)).toEqual([`job ${id} has run 3 where run 2 should be`]);
  });
});
