import type { Lease } from '@waybill/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { canRun, useLocalDynamo } from '../dynamodb/testing/bench.ts';
import { Meter } from '../testing/meter.ts';
import { useLocalSqs } from './testing/bench.ts';
import { type Cost, metered } from './testing/metered.ts';

const JOBS = 20;
const LEASE_MS = 30_000;
const COMPLETED = { kind: 'completed', result: { ok: true } } as const;
/** Args of 500 bytes in JSON. */
const REQUEST = { type: 'email.send', args: ['x'.repeat(496)], options: { queue: 'mails' } };
const turn = () => new Promise((resolve) => setImmediate(resolve));

interface Mode {
  name: string;
  overSqs: boolean;
  ready: 'index' | 'none';
}

/** Counts, by AWS's rules, what the engine asks of it: docs/costs.md explains each unit. */
describe.skipIf(!canRun)('what jobs cost through the engine (skipped: needs Java 17)', () => {
  const { open, client } = useLocalDynamo();
  const local = useLocalSqs();

  async function start({ overSqs, ready }: Mode, maintenance: boolean) {
    const sqs = local();
    const meter = new Meter(client());
    const { store } = await open({ client: meter, clock: sqs.clock, ready });
    const { waybill, per } = await metered({ sqs, store, meter, overSqs, maintenance });
    onTestFinished(() => waybill.close());
    const hints = () => sqs.server.inspectQueue(`${sqs.prefix}-mails-default`)?.messages.ready.length ?? 0;
    /** Answered before their hints are sent, so these are waited for. */
    const enqueue = async (count: number) => {
      await Promise.all(Array.from({ length: count }, () => waybill.jobs.enqueue(REQUEST)));
      while (overSqs && hints() < count) await turn();
    };
    const claim = (count: number) =>
      waybill.jobs.claim({ queues: ['mails'], count, leaseMs: LEASE_MS, workerId: 'worker-1' });
    return { clock: sqs.clock, waybill, per, enqueue, claim };
  }

  async function costOfJobs(mode: Mode) {
    const { waybill, per, enqueue, claim, clock } = await start(mode, false);
    // The first job of a process notes the queue and makes the place of its messages, which is no job's cost.
    await enqueue(1);
    await claim(1);
    // The first beat of a worker is told of, which is no beat's cost.
    await waybill.jobs.heartbeat({ workerId: 'worker-1', jobs: [] });
    const enqueued = await per(JOBS, () => enqueue(JOBS));
    let leases: Lease[] = [];
    const claimed = await per(JOBS, async () => {
      leases = await claim(JOBS);
    });
    expect(leases).toHaveLength(JOBS);
    await clock.advance(20_000);
    const jobs = leases.map(({ job: { id }, token }) => ({ id, leaseToken: token }));
    const heartbeat = await per(JOBS, () => waybill.jobs.heartbeat({ workerId: 'worker-1', jobs }));
    const settled = await per(JOBS, () =>
      Promise.all(jobs.map((job) => waybill.jobs.settle({ ...job, outcome: COMPLETED }))),
    );
    const whole = [enqueued, claimed, settled].reduce((a, b) => ({
      ...{ write: a.write + b.write, read: a.read + b.read, sqs: a.sqs + b.sqs },
    }));
    tell(mode, { enqueue: enqueued, claim: claimed, settle: settled, job: whole, heartbeat });
    return { whole, heartbeat };
  }

  function tell({ name }: Mode, costs: Record<string, Cost>): void {
    for (const [what, { write, read, sqs }] of Object.entries(costs)) {
      const told = `${write.toFixed(2)} write units, ${read.toFixed(2)} read units, ${sqs.toFixed(2)} SQS requests`;
      process.stdout.write(`${name}: ${what}: ${told}\n`);
    }
  }

  const OVER_SQS: Mode = { name: 'sqs', overSqs: true, ready: 'none' };
  const OVER_SQS_WITH_NET: Mode = { name: 'sqs, ready index', overSqs: true, ready: 'index' };
  const BY_POLL: Mode = { name: 'poll', overSqs: false, ready: 'index' };

  /** The goal, and today's figure, so that what makes it dearer does not go unseen. */
  it.each([
    [OVER_SQS, 8, 6.9],
    [BY_POLL, 10, 8.9],
    // The index that a lost hint is found by within a second costs two units more, which the goal does not include.
    [OVER_SQS_WITH_NET, 10, 8.9],
  ])('$name: a job of 500 bytes, from enqueue to end', async (mode, goal, today) => {
    const { whole, heartbeat } = await costOfJobs(mode);
    expect(whole.write).toBeLessThanOrEqual(goal);
    expect(whole.write).toBeLessThanOrEqual(today);
    expect(whole.read).toBeLessThanOrEqual(1);
    expect(whole.sqs).toBeLessThanOrEqual(mode.overSqs ? 0.5 : 0);
    // Twenty jobs share the note about their worker and what the log says of them; each keeps its own message hidden.
    expect(heartbeat.write).toBeLessThanOrEqual(1.4);
    expect(heartbeat.read).toBeLessThanOrEqual(0.6);
    expect(heartbeat.sqs).toBeLessThanOrEqual(mode.overSqs ? 0.1 : 0);
  });

  /** One process with the upkeep of a server and a worker that waits for one queue. Counted for two minutes. */
  it.each([
    [OVER_SQS, 5, { write: 0, read: 3_700, sqs: 360 }],
    [OVER_SQS_WITH_NET, 5, { write: 0, read: 13_000, sqs: 360 }],
    [BY_POLL, 3, { write: 0, read: 13_500, sqs: 0 }],
  ])('$name: an idle hour', async (mode, sleepers, most) => {
    const { waybill, per, clock } = await start(mode, true);
    const leaving = new AbortController();
    onTestFinished(() => leaving.abort());
    const wait = { queues: ['mails'], count: 10, waitMs: 20_000, workerId: 'worker-1', signal: leaving.signal };
    const waiting = (async () => {
      while (!leaving.signal.aborted) expect(await waybill.jobs.claim(wait)).toEqual([]);
    })();
    const pass = async (seconds: number) => {
      for (let second = 0; second < seconds; second++) {
        // The sweep, the pruner, the claim; over SQS also its long poll and its look into the store.
        await clock.whenSleeping(sleepers);
        await clock.advance(1_000);
      }
      await clock.whenSleeping(sleepers);
    };
    await pass(60);
    const hour = await per(120 / 3_600, () => pass(120));
    tell(mode, { 'idle hour': hour });
    leaving.abort();
    await waiting;
    for (const unit of ['write', 'read', 'sqs'] as const) expect(hour[unit]).toBeLessThanOrEqual(most[unit]);
  });
});
