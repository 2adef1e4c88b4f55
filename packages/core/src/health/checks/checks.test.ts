import { describe, expect, test } from 'vitest';
import { memoryStore } from '../../store/memory/memory-store.ts';
import { TestClock } from '../../testing/test-clock.ts';
import { testEngine } from '../../testing/test-engine.ts';
import type { CheckName, HealthReport } from '../checks-port.ts';
import type { HealthOptions } from '../health-options.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const CRON = { name: 'tick', expression: '0 * * * *', job_template: { type: 'test.job', args: [] } };

/** Without a sweep, so that what is due stays due. */
function made(only: CheckName, health: HealthOptions = {}) {
  const engine = testEngine({ maintenance: false, health });
  const findings = async () => {
    const report = await engine.waybill.checks.run();
    const all = [...report.findings, ...report.server!.findings];
    return all.filter(({ check }) => check === only);
  };
  const severity = async () => (await findings()).map((finding) => finding.severity)[0] ?? null;
  return { ...engine, findings, severity };
}

/** The severity just at each of these spans since now, and one millisecond later. */
async function atAndAfter({ clock, severity }: ReturnType<typeof made>, ...spans: number[]) {
  const begun = clock.now();
  const seen: (string | null)[] = [];
  for (const ms of spans) {
    await clock.set(begun + ms);
    seen.push(await severity());
    await clock.advance(1);
    seen.push(await severity());
  }
  return seen;
}

describe('running-jobs', () => {
  test('tells of each run once, whatever its runs before, and names what was measured', async () => {
    const { waybill, clock, enqueue, claimOne, findings } = made('running-jobs');
    const id = await enqueue({ queue: 'default' });
    const { token } = await claimOne();
    await waybill.jobs.settle({ id, leaseToken: token, outcome: { kind: 'requeued' } });
    await claimOne({ workerId: 'w1', leaseMs: 30_000 });
    await clock.advance(10 * MINUTE + 1);
    expect(await findings()).toEqual([
      {
        ...{ check: 'running-jobs', subject: `job:${id}`, severity: 'critical', queue: 'default', jobId: id },
        title: `Job ${id} (test.job) has given no sign of life for 10 minutes.`,
        facts: {
          ...{ health: 'critical', job_type: 'test.job', elapsed_ms: 600_001, silent_ms: 600_001 },
          ...{ last_event: 'job.started', worker_id: 'w1' },
        },
      },
    ]);
    const report = await waybill.checks.run();
    expect(report).toMatchObject({ status: 'critical', jobs: { total: 1, critical: 1, healthy: 0 }, tasks: [{ id }] });
  });

  test('counts those that began a moment ago without reading them, and says nothing about them', async () => {
    const { waybill, enqueue, claimOne, store } = made('running-jobs');
    for (let n = 0; n < 3; n += 1) {
      await enqueue();
      await claimOne();
    }
    const report = await waybill.checks.run();
    expect(report).toMatchObject({ status: 'healthy', jobs: { total: 3, healthy: 3 }, tasks: [], cut: [], failed: [] });
    expect(store.calls('get')).toBe(0);
  });

  test('a finished job, a job that waits and one that was retried in time are no finding', async () => {
    const { waybill, clock, enqueue, claimOne, findings } = made('running-jobs');
    await enqueue();
    const { job, token } = await claimOne({ leaseMs: 30_000 });
    await waybill.jobs.settle({ id: job.id, leaseToken: token, outcome: { kind: 'completed', result: 1 } });
    await enqueue();
    await clock.advance(24 * HOUR);
    expect(await findings()).toEqual([]);
  });
});

test('one job: its state, how it does, and what it said last', async () => {
  const { waybill, clock, enqueue, claimOne } = made('running-jobs');
  const id = await enqueue();
  expect(await waybill.checks.job(id)).toMatchObject({ state: 'available', health: null });
  const { token } = await claimOne({ leaseMs: 30_000, workerId: 'w1' });
  await clock.advance(10_000);
  await waybill.jobs.report({ id, leaseToken: token, data: { message: 'Reading page 7' } });
  await clock.advance(6 * MINUTE);
  // From the begin of the run, not from its last heartbeat.
  expect(await waybill.checks.job(id)).toMatchObject({
    ...{ id, state: 'active', health: 'warning', workerId: 'w1', lastEvent: 'job.heartbeat' },
    ...{ elapsedMs: 6 * MINUTE + 10_000, silentMs: 6 * MINUTE, activity: 'Reading page 7' },
  });
  await expect(waybill.checks.job('01900000-0000-7000-8000-000000000000')).rejects.toMatchObject({ code: 'not_found' });
  await expect(waybill.checks.job(undefined as unknown as string)).rejects.toMatchObject({ code: 'invalid_request' });
});

test('queue-age: over 5 and over 30 minutes, and never for a paused queue', async () => {
  const world = made('queue-age');
  await world.enqueue();
  expect(await atAndAfter(world, 5 * MINUTE, 30 * MINUTE)).toEqual([null, 'warning', 'warning', 'critical']);
  expect((await world.findings())[0]).toMatchObject({
    subject: 'queue:default',
    queue: 'default',
    facts: { available: 1 },
  });
  await world.waybill.queues.pause('default');
  expect(await world.severity()).toBe(null);
});

test('queue-age: a queue has levels of its own', async () => {
  const world = made('queue-age', { queues: { default: { warningMs: MINUTE } } });
  await world.enqueue();
  expect(await atAndAfter(world, MINUTE)).toEqual([null, 'warning']);
});

test('dead-letters: over 0 and over a number', async () => {
  const world = made('dead-letters', { deadLetters: { critical: 2 } });
  const seen = [await world.severity()];
  for (let n = 0; n < 3; n += 1) {
    await world.enqueue({ retry: { max_attempts: 1, on_exhaustion: 'dead_letter' } });
    const { job, token } = await world.claimOne();
    const error = { code: 'boom', message: 'It broke.' };
    await world.waybill.jobs.settle({ id: job.id, leaseToken: token, outcome: { kind: 'failed', error } });
    seen.push(await world.severity());
  }
  expect(seen).toEqual([null, 'warning', 'warning', 'critical']);
  expect((await world.findings())[0]).toMatchObject({ subject: 'dead-letters', facts: { count: 3 } });
});

test('late-crons: over 1 and over 10 minutes after their time, unless they are disabled', async () => {
  const world = made('late-crons');
  const { nextAt } = await world.waybill.crons.put(CRON);
  await world.clock.set(nextAt!);
  expect(await atAndAfter(world, MINUTE, 10 * MINUTE)).toEqual([null, 'warning', 'warning', 'critical']);
  expect((await world.findings())[0]).toMatchObject({
    subject: 'cron:tick',
    title: "Cron 'tick' should have fired 10 minutes ago.",
  });
  await world.waybill.crons.setEnabled('tick', false);
  expect(await world.severity()).toBe(null);
});

test('sweep-lag: over 30 seconds and over 5 minutes after the oldest row was due', async () => {
  const world = made('sweep-lag');
  const id = await world.enqueue();
  await world.claimOne({ leaseMs: 1_000 });
  await world.clock.advance(1_000);
  expect(await atAndAfter(world, 30_000, 5 * MINUTE)).toEqual([null, 'warning', 'warning', 'critical']);
  expect((await world.findings())[0]).toMatchObject({ subject: 'sweep', facts: { oldest: `job ${id}` } });
});

test('clock-skew: over 5 seconds and over a minute ahead of this clock', async () => {
  const clock = new TestClock();
  const on = memoryStore({ clock });
  const world = testEngine({ maintenance: false, on, clock });
  await world.enqueue();
  const severity = async () => (await world.waybill.checks.run()).server!.findings.map((found) => found.severity);
  const seen: string[][] = [];
  for (const ms of [5_000, 1, 54_999, 1]) {
    clock.jump(-ms);
    seen.push(await severity());
  }
  expect(seen).toEqual([[], ['warning'], ['warning'], ['critical']]);
});

describe('live-workers', () => {
  const beat = (waybill: ReturnType<typeof made>['waybill']) => waybill.jobs.heartbeat({ workerId: 'w1', jobs: [] });

  test('over a minute where none is live', async () => {
    const world = made('live-workers');
    await world.enqueue();
    expect(await atAndAfter(world, MINUTE)).toEqual([null, 'critical']);
    expect((await world.findings())[0]).toMatchObject({
      ...{ subject: 'queue:default', title: "Queue 'default' has jobs, and no worker is live." },
      facts: { live_workers: 0, last_worker_seen_at: null },
    });
  });

  test('over 5 minutes where some are live and none takes a job of this queue', async () => {
    const world = made('live-workers');
    await world.enqueue();
    await world.clock.advance(4 * MINUTE + 30_000);
    await beat(world.waybill);
    expect(await atAndAfter(world, 30_000)).toEqual([null, 'warning']);
  });

  test('a worker is live for less than a minute after it was seen', async () => {
    const world = made('live-workers', { liveWorkers: { noneMs: 0 } });
    await beat(world.waybill);
    await world.enqueue();
    expect(await atAndAfter(world, MINUTE - 1)).toEqual([null, 'critical']);
  });

  test('a queue with a running job is served, and a paused one need not be', async () => {
    const world = made('live-workers');
    await world.enqueue();
    await world.enqueue();
    const { job, token } = await world.claimOne();
    await world.clock.advance(20 * MINUTE);
    expect(await world.severity()).toBe(null);
    await world.waybill.jobs.settle({ id: job.id, leaseToken: token, outcome: { kind: 'completed', result: 1 } });
    expect(await world.severity()).toBe('critical');
    await world.waybill.queues.pause('default');
    expect(await world.severity()).toBe(null);
  });
});

describe('a look', () => {
  test('reads nothing for checks that are off', async () => {
    const off = ['running-jobs', 'queue-age', 'dead-letters', 'late-crons', 'sink-lag', 'live-workers'] as const;
    const { waybill, store } = testEngine({ maintenance: false, health: { off } });
    expect(await waybill.checks.run({ server: false })).toMatchObject({ status: 'healthy', findings: [] });
    const calls = (
      ['list', 'get', 'count', 'due', 'queues.list', 'crons.list', 'workers.list', 'records.list'] as const
    ).map(store.calls);
    expect(calls).toEqual(calls.map(() => 0));
  });

  test('goes on after a check that fails, and says which one and no secret', async () => {
    const error = new Error('postgres://ada:secret@db refused');
    const { waybill } = testEngine({
      maintenance: false,
      faults: [{ method: 'crons.list', call: 1, when: 'before', error }],
    });
    const report: HealthReport = await waybill.checks.run();
    expect(report).toMatchObject({ status: 'warning', failed: [{ check: 'late-crons' }] });
    expect(JSON.stringify(report)).not.toContain('secret');
  });

  test('says which checks saw only a part', async () => {
    const { waybill, clock } = testEngine({ maintenance: false });
    for (let n = 0; n < 201; n += 1) await waybill.queues.setKeep(`q${n}`, 'none');
    expect((await waybill.checks.run()).cut).toEqual(['queue-age', 'live-workers']);
    expect(clock.sleepers).toBe(0);
  });
});
