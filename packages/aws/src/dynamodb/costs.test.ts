import { aJob, settleChange, TestClock } from '@waybill/core/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Meter, type Use } from '../testing/meter.ts';
import { canRun, useLocalDynamo } from './testing/bench.ts';

const JOBS = 25;
const COMPLETED = { kind: 'completed', result: { ok: true } } as const;
/** As a producer would send it: args of 500 bytes, a UUID for a claim, names of ordinary length. */
const SPEC = { args: ['x'.repeat(496)], meta: {} };
const LEASE = { claimId: '0190b7a2-0000-7000-8000-000000000001', workerId: 'worker-1', leaseMs: 30_000 };

const sum = (uses: readonly Use[]): Use =>
  uses.reduce((a, b) => ({ requests: a.requests + b.requests, write: a.write + b.write, read: a.read + b.read }));

describe.skipIf(!canRun)('what jobs cost on DynamoDB (skipped: needs Java 17)', () => {
  const { open, client } = useLocalDynamo();

  async function measure(ready: 'index' | 'none') {
    const meter = new Meter(client());
    const clock = new TestClock();
    const { store, close } = await open({ client: meter, clock, ready });
    onTestFinished(close);
    const made = (count: number) =>
      Array.from({ length: count }, () => aJob({ createdAt: clock.now(), type: 'email.send', spec: SPEC }));
    // A queue is noted once by each process, which is no job's cost.
    await store.insert([{ jobs: made(1) }]);
    if (ready === 'index')
      await store.claim([{ tenant: '', queues: ['default'], limit: 1, ...LEASE, claimId: 'first', now: clock.now() }]);
    const jobs = made(JOBS);
    const ids = jobs.map(({ job }) => job.id);
    const insert = await meter.per(JOBS, () => store.insert(jobs.map((job) => ({ jobs: [job] }))));
    let claimed = await store.get([]);
    const claim = await meter.per(JOBS, async () => {
      if (ready === 'index') {
        const request = { tenant: '', queues: ['default'], limit: JOBS, ...LEASE, now: clock.now() };
        claimed = (await store.claim([request]))[0]!;
      } else {
        const answers = await store.claimById({ tenant: '', ids, ...LEASE, now: clock.now() });
        claimed = answers.map((answer) => (answer.status === 'claimed' ? answer.job : null));
      }
    });
    expect(claimed.filter((job) => job !== null)).toHaveLength(JOBS);
    await clock.advance(20_000);
    const beats = ids.map((id) => ({ tenant: '', id, by: 'anyone', leaseMs: null, now: clock.now() }) as const);
    const heartbeat = await meter.per(JOBS, () => store.extend(beats));
    const settle = await meter.per(JOBS, () =>
      store.apply(claimed.map((job) => settleChange(job!, COMPLETED, clock.now()))),
    );
    const idle = await meter.per(1, () => store.due({ now: clock.now(), limit: 100 }));
    return { insert, claim, heartbeat, settle, idle, plain: sum([insert, claim, settle]) };
  }

  it('claimed by id: at most 8 write units and 1 read unit from enqueue to end', async () => {
    const cost = await measure('none');
    expect(cost.plain.write).toBeLessThanOrEqual(8);
    // Today's figures, so that what makes it dearer does not go unseen.
    expect(cost.plain.write).toBeLessThan(6.9);
    expect(cost.plain.read).toBeLessThanOrEqual(1);
    expect(cost.heartbeat.write).toBe(1);
  });

  it('claimed by rank: at most 10 write units and 1 read unit', async () => {
    const cost = await measure('index');
    expect(cost.plain.write).toBeLessThanOrEqual(10);
    expect(cost.plain.write).toBeLessThan(9);
    expect(cost.plain.read).toBeLessThanOrEqual(1);
  });

  it('what tells nothing costs one write, and so does the beat of a known worker that has something to tell', async () => {
    const meter = new Meter(client());
    const { store, clock, close } = await open({ client: meter });
    onTestFinished(close);
    const told = { type: 'worker.started', tenant: '', subject: 'w', at: clock.now(), data: {} } as const;
    const beat = () => store.workers.beat({ tenant: '', id: 'w', activeJobs: 1, now: clock.now(), told });
    await beat();
    expect(await meter.per(1, beat)).toEqual({ requests: 1, write: 1, read: 0 });
    const pause = () => store.queues.setPaused('', 'q', true);
    expect(await meter.per(1, pause)).toEqual({ requests: 1, write: 1, read: 0 });
    // The same again changes nothing, so it is one look.
    const again = () => store.queues.setPaused('', 'q', true, { ...told, type: 'queue.paused', subject: 'q' });
    expect(await meter.per(1, again)).toEqual({ requests: 1, write: 0, read: 1 });
  });

  it('a sweep that finds nothing costs two looks at the index', async () => {
    const meter = new Meter(client());
    const { store, clock, close } = await open({ client: meter });
    onTestFinished(close);
    const idle = await meter.per(1, () => store.due({ now: clock.now(), limit: 100 }));
    expect(idle).toEqual({ requests: 2, write: 0, read: 1 });
  });
});
