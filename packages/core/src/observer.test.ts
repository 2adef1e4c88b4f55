import { describe, expect, it } from 'vitest';
import type { EngineObserver } from './observer.ts';
import { memoryStore } from './store/memory/memory-store.ts';
import { TestClock } from './testing/test-clock.ts';
import { testEngine } from './testing/test-engine.ts';

/** An observer that notes what it is told, as short text. */
function noting(): { observer: EngineObserver; told: string[] } {
  const told: string[] = [];
  const observer: EngineObserver = {
    inserted: (jobs) => told.push(`inserted ${jobs.map(({ state }) => state)}`),
    claimed: (jobs) => told.push(`claimed ${jobs.map(({ state }) => state)}`),
    changed: (changes) => told.push(`changed ${changes.flatMap(({ events }) => events.map(({ type }) => type))}`),
    extended: ({ extended, lost }) => told.push(`extended ${extended} lost ${lost}`),
  };
  return { observer, told };
}

describe('an observer of the engine', () => {
  it('is told of every step of a job, once', async () => {
    const { observer, told } = noting();
    const { waybill, enqueue, claimOne } = testEngine({ observer, maintenance: false });
    await enqueue();
    const { job, token } = await claimOne({ workerId: 'w' });
    const gone = { id: job.id, leaseToken: '9.00000000-0000' };
    await waybill.jobs.heartbeat({ workerId: 'w', jobs: [{ id: job.id, leaseToken: token }, gone] });
    await waybill.jobs.settle({ id: job.id, leaseToken: token, outcome: { kind: 'completed', result: null } });
    await waybill.jobs.settle({ id: job.id, leaseToken: token, outcome: { kind: 'completed', result: null } });
    expect(told).toEqual(['inserted available', 'claimed active', 'extended 1 lost 1', 'changed job.completed']);
  });

  it('is told of jobs that schedules and workflows make, and of leases that ran out', async () => {
    const { observer, told } = noting();
    const { waybill, clock, claimOne } = testEngine({ observer });
    const template = { type: 'test.job', args: [], options: { queue: 'ticks' } };
    await waybill.crons.put({ name: 'tick', expression: '* * * * *', job_template: template });
    await waybill.workflows.create({
      type: 'batch',
      jobs: [{ type: 'test.job', args: [] }],
      callbacks: { on_complete: { type: 'test.done', args: [], options: { queue: 'done' } } },
    });
    expect(told).toEqual(['inserted available']);
    await clock.advance(60_000);
    expect(told).toEqual(['inserted available', 'inserted available']);
    const { job, token } = await claimOne();
    await waybill.jobs.settle({ id: job.id, leaseToken: token, outcome: { kind: 'completed', result: null } });
    expect(told.filter((line) => line === 'inserted available')).toHaveLength(3);
    await waybill.jobs.claim({ queues: ['done'], leaseMs: 1_000 });
    await clock.advance(2_000);
    expect(told.at(-1)).toContain('job.lease_expired');
  });

  it('is told how late the sweep was', async () => {
    const clock = new TestClock();
    const on = memoryStore({ clock });
    const { enqueue } = testEngine({ on, clock, maintenance: false });
    await enqueue({ scheduled_at: new Date(clock.now() + 1_000).toISOString() });
    // Nobody sweeps while this passes.
    await clock.advance(5_000);
    const lags: number[] = [];
    testEngine({ on, clock, observer: { swept: ({ lagMs }) => lags.push(lagMs) } });
    await clock.advance(1_000);
    expect(lags[0]).toBe(4_000);
    expect(lags.at(-1)).toBe(0);
  });

  // fault: an observer that throws at every call
  it('changes nothing by throwing, and one line tells of it', async () => {
    const lines: string[] = [];
    const warn = (_: object, message: string) => void lines.push(message);
    const logger = { debug: () => {}, info: () => {}, warn, error: () => {} };
    const broken = () => {
      throw new Error('broken');
    };
    const observer = { inserted: broken, claimed: broken, changed: broken, extended: broken, swept: broken };
    const { waybill, clock, enqueue, claimOne } = testEngine({ observer, logger });
    const id = await enqueue();
    const { token } = await claimOne({ workerId: 'w' });
    await waybill.jobs.heartbeat({ workerId: 'w', jobs: [{ id, leaseToken: token }] });
    await clock.advance(1_000);
    const settled = await waybill.jobs.settle({ id, leaseToken: token, outcome: { kind: 'completed', result: null } });
    expect(settled.state).toBe('completed');
    expect(lines).toEqual(['An observer of the engine failed. Its metrics may be incomplete.']);
  });
});
