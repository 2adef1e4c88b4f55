import { beforeEach, describe, expect, it } from 'vitest';
import type { Ending } from '../evidence/evidence.ts';
import { rescue } from './rescue.ts';
import { nobodyDied, noSurprises, nothingStuck } from './rest.ts';
import { Story } from './testing/story.ts';

let story: Story;
let id: string;
const ending = (more: Partial<Ending>): void => {
  const at = story.now;
  story.endings.push({ life: 'worker-2#1', how: 'killed', code: null, signal: 'SIGKILL', wasReady: true, at, ...more });
};

beforeEach(() => {
  story = new Story();
  id = story.job();
  story.begin(id, 'worker-2#1');
  ending({});
});

describe('guarantee 11: finds', () => {
  it('a run that is still live after its worker was killed', () => {
    expect(story.found(rescue)).toEqual([`run 1 of job ${id} is still live, and worker-2#1 was killed`]);
  });

  it('a job that was not run again', () => {
    story.expire(id);
    expect(story.found(rescue)).toEqual([`job ${id} was not run again after worker-2#1 was killed`]);
    story.begin(id);
    expect(story.found(rescue)).toEqual([]);
  });

  it('a process that does not end well after SIGTERM', () => {
    story.change(id, { do: 'cancel' });
    ending({ life: 'server-1#1', how: 'terminated', code: 0, signal: null });
    expect(story.found(rescue)).toEqual([]);
    ending({ life: 'server-1#2', how: 'terminated', code: 1, signal: null });
    ending({ life: 'server-1#3', how: 'terminated', code: null, signal: 'SIGKILL' });
    expect(story.found(rescue)).toEqual([
      'server-1#2 was told to end by SIGTERM and ended with 1',
      'server-1#3 was told to end by SIGTERM and ended with SIGKILL',
    ]);
  });
});

describe('at the end: finds', () => {
  it('jobs, workflows and slots that are stuck', () => {
    story.expire(id);
    story.workflows.push({ id: 'w', name: null, state: 'running', nodes: [] });
    story.limits.push({ tenant: '', key: 'chaos-one', rule: null, holders: 1, parked: 0 });
    expect(story.found(nothingStuck)).toEqual([
      expect.stringMatching(new RegExp(`^job ${id} \\(chaos.plain\\) is available, .* last event is job.enqueued at `)),
      'limit chaos-one has 1 holders and 0 jobs that wait',
      'workflow w is running',
    ]);
  });

  it('calls that met an error which says nothing', () => {
    story.note({ kind: 'refused', call: 'c', code: 'unavailable' }, 'producer-1#1');
    expect(story.found(noSurprises)).toEqual([]);
    story.note({ kind: 'refused', call: 'c', code: 'internal' }, 'producer-1#1');
    story.note({ kind: 'settled', id, run: 1, outcome: 'failed', answer: 'unknown', again: false });
    expect(story.found(noSurprises)).toEqual([
      'producer-1#1: call c met an internal error',
      `worker-1#1: the settle of run 1 of job ${id} met an unknown error`,
    ]);
  });

  it('a process that died by itself, but not one that never came up', () => {
    ending({ life: 'server-1#1', how: 'died', code: 1, signal: null, wasReady: false });
    expect(story.found(nobodyDied)).toEqual([]);
    ending({ life: 'server-1#2', how: 'died', code: 7, signal: null });
    expect(story.found(nobodyDied)).toEqual(['server-1#2 ended by itself, with 7']);
  });
});
