import { describe, expect, test } from 'vitest';
import { TERMINAL_EVENT_TYPES } from './events/job-event.ts';
import type { Fault, StoreMethod } from './testing/faulty-store.ts';
import { testEngine } from './testing/test-engine.ts';

/** Every store call that enqueueing, claiming, extending, settling and reading a job makes, and how often. */
const CALLS: Partial<Record<StoreMethod, number>> = {
  insert: 1,
  claim: 2,
  extend: 1,
  'workers.beat': 1,
  apply: 3,
  get: 1,
};

const matrix: Fault[] = Object.entries(CALLS).flatMap(([method, calls]) =>
  Array.from({ length: calls }, (_, index) => index + 1).flatMap((call) =>
    (['before', 'after'] as const).map((when) => ({ method: method as StoreMethod, call, when })),
  ),
);

/** A caller that gets an error does what every caller may do: the same call again. */
async function persist<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await call();
    } catch (error) {
      if (tries === 3) throw error;
    }
  }
}

// fault: the connection breaks before or after the effect of a store call
describe('guarantees 1, 2, 4, 10 hold when one store call breaks', () => {
  test.each(matrix)('$method, call $call, $when its effect', async (fault) => {
    const { waybill, clock, store } = testEngine({ faults: [fault] });
    const { jobs } = waybill;
    const retry = { max_attempts: 2, initial_interval: 'PT1S', jitter: false };
    const { job } = await persist(() =>
      jobs.enqueue({ type: 'a.b', args: [], options: { retry } }, { idempotencyKey: 'k' }),
    );

    const [first] = await persist(() =>
      jobs.claim({ queues: ['default'], claimId: 'claim-0001', workerId: 'w', leaseMs: 60_000 }),
    );
    expect(first!.job).toMatchObject({ id: job.id, run: 1, attempt: 1 });
    const beat = await persist(() =>
      jobs.heartbeat({ workerId: 'w', jobs: [{ id: job.id, leaseToken: first!.token }] }),
    );
    expect(beat.lost).toEqual([]);
    const failed = { kind: 'failed', error: { code: 'handler_error', message: 'no' } } as const;
    await persist(() => jobs.settle({ id: job.id, leaseToken: first!.token, outcome: failed }));

    await clock.advance(1_000);
    await clock.advance(1_000);
    const [second] = await persist(() => jobs.claim({ queues: ['default'], claimId: 'claim-0002', workerId: 'w' }));
    expect(second!.job).toMatchObject({ id: job.id, run: 2, attempt: 2 });
    await persist(() =>
      jobs.settle({ id: job.id, leaseToken: second!.token, outcome: { kind: 'completed', result: 1 } }),
    );

    expect(await persist(() => jobs.get(job.id))).toMatchObject({ state: 'completed', run: 2, result: 1 });
    const { events } = await waybill.events.read({ limit: 100 });
    for (const own of Map.groupBy(events, ({ subject, jobId, source }) => `${subject ?? jobId} ${source}`).values())
      expect(own.map(({ sequence }) => sequence)).toEqual(own.map((_, index) => index + 1));
    expect(events.filter(({ type }) => TERMINAL_EVENT_TYPES.has(type))).toHaveLength(1);
    expect(events.filter(({ type }) => type === 'job.started')).toHaveLength(2);
    expect(store.calls(fault.method), 'the call that was to break was made').toBeGreaterThan(fault.call);
  });
});
