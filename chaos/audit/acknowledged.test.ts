import { expect, it } from 'vitest';
import { acknowledged } from './acknowledged.ts';
import { Story } from './testing/story.ts';

it('guarantee 1: finds jobs and workflows that were answered for and are gone', () => {
  const story = new Story();
  const [kept, lost, untold] = [story.job(), story.job(), story.job()];
  story.note({ kind: 'answered', call: 'c', for: 'workflow', ids: ['w1'] }, 'producer-1#1');
  story.workflows.push({ id: 'w1', name: 'c', state: 'completed', nodes: [] });
  expect(story.found(acknowledged)).toEqual([]);

  story.jobs.delete(lost);
  story.log = story.log.filter(({ jobId }) => jobId !== untold);
  story.workflows.pop();
  expect(story.found(acknowledged)).toEqual([
    `call producer-1#1.0.2 was answered for job ${lost}, which is not in the store`,
    `call producer-1#1.0.3 was answered for job ${untold}, and the log does not tell of it`,
    'call c was answered for workflow w1, which is not in the store',
  ]);
  expect(story.jobs.has(kept)).toBe(true);
});
