import { describe, expect, it } from 'vitest';
import { task } from '../task.ts';
import { bench } from '../testing/bench.ts';

describe('a task that has its errors classified', () => {
  const failing = (error: unknown) =>
    task('classified.one', {
      classifyErrors: true,
      retry: { max_attempts: 3, jitter: false, initial_interval: 'PT1S' },
      run: () => {
        throw error;
      },
    });

  it('does not retry a mistake of its program, and says which class it was', async () => {
    const { work, add, happened } = bench();
    const one = failing(new TypeError('x is not a function'));
    work([one]);
    const { id } = await add(one);
    const { errors } = await happened(id, 'job.discarded');
    expect(errors).toMatchObject([{ type: 'TypeError', retryable: false, details: { class: 'programming' } }]);
  });

  it('waits as long as a service asked for', async () => {
    const { work, add, happened, clock } = bench();
    const one = failing(Object.assign(new Error('slow down'), { status: 429, headers: { 'retry-after': '40' } }));
    work([one]);
    const { id } = await add(one);
    expect(await happened(id, 'job.retrying')).toMatchObject({ scheduledAt: clock.now() + 40_000 });
  });
});
