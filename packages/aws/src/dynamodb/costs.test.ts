import { aJob, settleChange, TestClock } from '@waybill/core/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Meter, type Use } from '../testing/meter.ts';
import { canRun, useLocalDynamo } from './testing/bench.ts';
import { batchesOf, say, started } from './testing/journal.ts';

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

  it('a batch of a journal costs two units for its row and two for each of its kilobytes', async () => {
    const meter = new Meter(client());
    const { store, clock, close } = await open({ client: meter });
    onTestFinished(close);
    const job = await started(store, clock, { type: 'email.send', spec: SPEC });
    let next = 0;
    const append = (bytes: number) =>
      meter.per(1, () => say(store, job, [++next, next], { body: Buffer.alloc(bytes, 'x') }));
    // The first one of a process reads the row; from then on the process knows how far the run is.
    expect(await append(700)).toEqual({ requests: 2, write: 4, read: 1 });
    expect(await append(700)).toEqual({ requests: 1, write: 4, read: 0 });
    // 50 entries of 200 bytes, compressed and not.
    expect(await append(3_600)).toEqual({ requests: 1, write: 10, read: 0 });
    expect(await append(10_300)).toEqual({ requests: 1, write: 24, read: 0 });
    // One that was stored before is not written again.
    next -= 1;
    expect(await append(700)).toEqual({ requests: 1, write: 0, read: 1 });
  });

  it('reading a journal costs the row and its size, and a look that finds nothing new the row alone', async () => {
    const meter = new Meter(client());
    const { store, clock, close } = await open({ client: meter });
    onTestFinished(close);
    const job = await started(store, clock, { type: 'email.send', spec: SPEC });
    for (let n = 1; n <= JOBS; n++) await say(store, job, [n, n], { body: Buffer.alloc(3_600, 'x') });
    const { tenant, id } = job;
    const look = (sequence: number) =>
      meter.per(1, () => store.journal.read({ tenant, id, after: { run: 1, sequence }, limit: 100, maxBytes: 1e6 }));
    expect(await look(JOBS)).toEqual({ requests: 1, write: 0, read: 1 });
    expect(await look(JOBS - 1)).toEqual({ requests: 2, write: 0, read: 2 });
    const whole = await meter.per(1, () => batchesOf(store, job));
    expect(whole.read).toBeLessThanOrEqual(1 + Math.ceil((JOBS * 3_750) / 4_096));
    const heartbeat = await meter.per(1, () =>
      store.extend([{ tenant, id, by: 'anyone', leaseMs: null, now: clock.now() + 20_000 }]),
    );
    expect(heartbeat.write, 'the row stays under a kilobyte').toBe(1);
  });

  it('a sweep that finds nothing costs two looks at the index', async () => {
    const meter = new Meter(client());
    const { store, clock, close } = await open({ client: meter });
    onTestFinished(close);
    const idle = await meter.per(1, () => store.due({ now: clock.now(), limit: 100 }));
    expect(idle).toEqual({ requests: 2, write: 0, read: 1 });
  });
});
