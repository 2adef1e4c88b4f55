import { beforeEach, describe, expect, it } from 'vitest';
import { fencing } from './fencing.ts';
import { Story } from './testing/story.ts';

let story: Story;
let id: string;
beforeEach(() => {
  story = new Story();
  id = story.job();
});

describe('guarantee 3: finds', () => {
  it('a stale run that ends the job', () => {
    story.begin(id);
    story.expire(id);
    story.begin(id);
    story.plant(id, 'job.completed', 1);
    story.row(id, { result: { job: id, run: 1 } });
    expect(story.found(fencing)).toEqual([`job ${id} has job.completed of run 1 while run 2 was live`]);
  });

  it('a run that ends when no run is live', () => {
    story.begin(id);
    story.expire(id);
    story.plant(id, 'job.completed', 1);
    story.row(id, { result: { job: id, run: 1 } });
    expect(story.found(fencing)).toEqual([`job ${id} has job.completed of run 1 while no run was live`]);
  });

  it('a settle that was answered and has no effect', () => {
    story.begin(id);
    story.note({ kind: 'settled', id, run: 1, outcome: 'completed', answer: 'ok', again: false });
    story.expire(id);
    expect(story.found(fencing)).toEqual([
      `worker-1#1 was answered that run 1 of job ${id} is completed, and it is not`,
    ]);
  });

  it('a settle that was refused and has an effect', () => {
    story.begin(id);
    story.end(id);
    story.note({ kind: 'settled', id, run: 1, outcome: 'completed', answer: 'lease_lost', again: false });
    expect(story.found(fencing)).toEqual([
      `worker-1#1 was refused to complete run 1 of job ${id}, and it is completed`,
    ]);
  });

  it('the result of another run', () => {
    story.begin(id);
    story.expire(id);
    story.begin(id);
    story.end(id);
    expect(story.found(fencing)).toEqual([]);
    story.row(id, { result: { job: id, run: 1 } });
    expect(story.found(fencing)).toEqual([
      `job ${id} was completed by run 2, and its result is {"job":"${id}","run":1}`,
    ]);
  });

  it('a cancelled job that is completed all the same', () => {
    story.begin(id);
    story.end(id);
    story.note({ kind: 'cancelled', id, state: 'cancelled' }, 'producer-1#1');
    expect(story.found(fencing)).toEqual([`producer-1#1 has cancelled job ${id}, and it is completed`]);
  });
});
