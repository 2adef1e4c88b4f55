import { jobFromWire, jobToWire } from '@waybill/client';
import { inTenant, type Job, type JobRequest, type Lease, type Waybill, type WorkflowNode } from '@waybill/core';
import { jobIdAt, TEST_EPOCH } from '@waybill/core/testing';
import { describe, expect, test } from 'vitest';
import { remoteHarness, take } from '../testing/remote-harness.ts';

type Answers = Record<string, unknown>;
type Scenario = (waybill: Waybill, pass: (ms: number) => Promise<void>) => Promise<Answers>;

const job = (n: number, over: Partial<JobRequest> = {}): JobRequest => ({
  type: 'test.job',
  args: [n],
  id: jobIdAt(TEST_EPOCH, n),
  ...over,
});
const claim = { queues: ['default'], workerId: 'w1', leaseMs: 1_000, claimId: 'claim-first' };
const failure = { code: 'smtp_down', message: 'no', type: 'SmtpError', retryable: true, details: { host: 'mail' } };

/** What a refusal comes to, on either side. */
async function refusal(call: Promise<unknown>): Promise<unknown> {
  const error = await call.then(
    () => undefined,
    (reason: Record<string, unknown>) => reason,
  );
  const { name, code, message, details, retryable } = error ?? {};
  return { name, code, message, details, retryable };
}

/** For refusals that either side finds out for itself, in its own words. */
const codeOf = async (call: () => Promise<unknown>): Promise<unknown> =>
  ((await refusal((async () => call())())) as { code: unknown }).code;

const isJob = (value: object): value is Job => 'spec' in value && 'maxAttempts' in value;

/** The wire does not carry everything: what it leaves out is left out on both sides, and ids of workflows are new. */
function carried(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(carried);
  if (isJob(value)) return { ...jobFromWire(jobToWire(value), value.tenant), workflowId: value.workflowId && 'some' };
  const { callbacks: _callbacks, lastJobId: _lastJobId, version: _version, hint: _hint, ...rest } = value as Answers;
  return Object.fromEntries(Object.entries(rest).map(([name, item]) => [name, carried(item)]));
}

const SCENARIOS: Record<string, Scenario> = {
  'jobs come, are read and go': async ({ jobs }) => ({
    enqueued: await jobs.enqueue(job(1, { meta: { a: 1 }, x_unknown: [1], options: { priority: 3, tags: ['t'] } })),
    scheduled: await jobs.enqueue(job(2, { options: { scheduled_at: '+PT1H', expires_at: '2031-01-01T00:00:00Z' } })),
    pending: await jobs.enqueue(job(3, { options: { pending: true, retry: { max_attempts: 5 } } })),
    activated: await jobs.activate(job(3).id!),
    many: await jobs.enqueueMany([job(4), job(5, { options: { queue: 'other', timeout_ms: 50 } })]),
    keyed: await jobs.enqueue(job(6), { idempotencyKey: 'k' }),
    repeated: await jobs.enqueue({ ...job(7), args: ['not looked at'] }, { idempotencyKey: 'k' }),
    got: await jobs.get(job(1).id!),
    all: await jobs.list({ limit: 100 }),
    some: await jobs.list({ limit: 2, filter: { states: ['available'], queues: ['default'], types: ['test.job'] } }),
    prefixed: await jobs.list({ limit: 9, filter: { idPrefix: job(4).id!.slice(0, 23) } }),
    early: await jobs.list({ limit: 2, filter: { createdAfter: TEST_EPOCH + 1 } }),
    cancelled: await jobs.cancel(job(1).id!, { by: 'ada', reason: 'done with' }),
    twice: await refusal(jobs.cancel(job(1).id!)),
    retried: await jobs.retry(job(1).id!),
    retriedTwice: await refusal(jobs.retry(job(1).id!)),
    unknown: await refusal(jobs.get(jobIdAt(TEST_EPOCH, 99))),
    duplicate: await refusal(jobs.enqueue(job(1))),
    empty: await codeOf(() => jobs.enqueueMany([])),
    invalid: await refusal(jobs.enqueue(job(8, { type: 'Not Valid' }))),
    policy: await refusal(jobs.enqueue(job(8, { options: { retry: { max_attempts: -1 } } }))),
  }),

  'a worker takes jobs and says what came of them': async ({ jobs, workers, deadLetters, events }, pass) => {
    const outcomes = [
      { kind: 'completed', result: { sent: true } },
      { kind: 'failed', error: failure },
      { kind: 'snoozed', until: TEST_EPOCH + 60_000 },
      { kind: 'snoozed', error: failure },
      { kind: 'requeued' },
      { kind: 'requeued', error: failure },
      { kind: 'cancelled', reason: 'not needed' },
      { kind: 'cancelled' },
      { kind: 'discarded', error: failure },
      { kind: 'discarded', error: failure, deadLetter: true },
    ] as const;
    const answers: Answers = { none: await jobs.claim({ ...claim, claimId: 'claim-none' }) };
    for (const [index, outcome] of outcomes.entries()) {
      const queue = `q${index}`;
      await jobs.enqueue(job(index + 1, { options: { queue, timeout_ms: 5_000, retry: { jitter: false } } }));
      const call = { ...claim, queues: [queue], claimId: `claim-000${index}` };
      const [lease] = (await jobs.claim(call)) as [Lease];
      const held = { id: lease.job.id, leaseToken: lease.token };
      answers[`lease ${index}`] = [lease, lease.job.claimId === call.claimId, await jobs.claim(call)];
      answers[`beat ${index}`] = await jobs.heartbeat({ workerId: 'w1', jobs: [held], leaseMs: 2_000 });
      answers[`settled ${index}`] = await jobs.settle({ ...held, outcome });
      answers[`again ${index}`] = await jobs.settle({ ...held, outcome });
      answers[`lost ${index}`] = await jobs.heartbeat({ workerId: 'w1', jobs: [held] });
    }
    await jobs.enqueue(job(50));
    const [stale] = (await jobs.claim(claim)) as [Lease];
    await pass(1_000);
    const late = { id: stale.job.id, leaseToken: stale.token, outcome: outcomes[0] };
    return {
      ...answers,
      late: await refusal(jobs.settle(late)),
      forged: await refusal(jobs.settle({ ...late, leaseToken: 'made up' })),
      workers: await workers.list(),
      told: await workers.direct('w1', 'quiet'),
      obeys: (await jobs.heartbeat({ workerId: 'w1', jobs: [] })).directive,
      nobody: await refusal(workers.direct('w2', 'quiet')),
      dead: await deadLetters.list({ limit: 10 }),
      events: await events.read({ limit: 1_000 }),
    };
  },

  'dead letters are repaired or dropped': async ({ jobs, deadLetters }) => {
    for (let n = 1; n <= 6; n += 1) {
      await jobs.enqueue(job(n, { options: { queue: n % 2 === 0 ? 'even' : 'odd' } }));
      const [{ token }] = (await jobs.claim({ queues: ['even', 'odd'], claimId: `claim-000${n}` })) as [Lease];
      const outcome = { kind: 'discarded', error: { code: `e${n}`, message: '' }, deadLetter: true } as const;
      await jobs.settle({ id: job(n).id!, leaseToken: token, outcome });
    }
    return {
      page: await deadLetters.list({ limit: 2 }),
      some: await deadLetters.list({ limit: 9, filter: { queues: ['even', 'other'], finishedBefore: TEST_EPOCH + 1 } }),
      one: await deadLetters.list({ limit: 9, filter: { errorType: 'e3', types: ['test.job'] } }),
      got: await deadLetters.get(job(1).id!),
      replayed: await deadLetters.replay(job(1).id!),
      discarded: await deadLetters.discard(job(2).id!),
      gone: await refusal(deadLetters.get(job(2).id!)),
      stats: await deadLetters.stats(),
      bounded: await deadLetters.replayMany({ queues: ['odd', 'even'] }, { atMost: 1 }),
      many: await deadLetters.replayMany({ queues: ['odd'] }),
      dropped: await deadLetters.discardMany({}, { atMost: 5 }),
      left: await deadLetters.stats(),
    };
  },

  'A11: a dead letter without its unique key is skipped and named': async ({ jobs, deadLetters }) => {
    const unique = { unique: {}, queue: 'dead' };
    for (const n of [1, 2]) {
      await jobs.enqueue(job(n, { options: n === 1 ? unique : { queue: 'dead' } }));
      const [{ token }] = (await jobs.claim({ queues: ['dead'], claimId: `claim-000${n}` })) as [Lease];
      const outcome = { kind: 'discarded', error: { code: 'e', message: '' }, deadLetter: true } as const;
      await jobs.settle({ id: job(n).id!, leaseToken: token, outcome });
    }
    await jobs.enqueue(job(3, { options: { ...unique, queue: 'later' } }));
    const many = await deadLetters.replayMany({});
    expect(many).toMatchObject({ replayed: 1, more: false, skipped: { total: 1, items: [{ id: job(1).id }] } });
    return { many, bounded: await deadLetters.replayMany({}, { atMost: 1 }) };
  },

  'queues and limits are looked at and changed': async ({ jobs, queues, limits }, pass) => {
    const answers: Answers = { before: await queues.list(), unused: await refusal(queues.stats('new')) };
    for (const n of [1, 2, 3]) await jobs.enqueue(job(n, { options: { rate_limit: { key: 'api', concurrency: 1 } } }));
    await pass(10);
    return {
      ...answers,
      stats: await queues.stats('default'),
      limit: await limits.get('api'),
      raised: await limits.set('api', { concurrency: 2, rate: { limit: 5, periodMs: 1_500 } }),
      unknown: await refusal(limits.get('nobody')),
      paused: await queues.pause('default'),
      resumed: await queues.resume('default'),
      limited: await queues.setLimit('default', { concurrency: 3, rate: null }),
      listed: await queues.list(),
      unlimited: await queues.setLimit('default', null),
      forgetful: await queues.setKeep('forgetful', 'none'),
      keeping: await queues.setKeep('forgetful', 'all'),
      bad: await codeOf(() => queues.pause('Not Valid')),
    };
  },

  'a run reports on itself': async ({ jobs }) => {
    const { id } = (await jobs.enqueue(job(90))).job;
    const silent = await jobs.progress(id);
    const [lease] = await jobs.claim({ queues: ['default'], claimId: 'claim-progress' });
    const call = { id, leaseToken: lease!.token };
    return {
      silent,
      noted: await jobs.report({ ...call, number: 1, fraction: 0.5, data: { rows: 1 } }),
      repeated: await jobs.report({ ...call, number: 1, fraction: 0.7 }),
      saved: await jobs.report({ ...call, number: 2, checkpoint: { row: 1 } }),
      read: await jobs.progress(id),
      bad: await codeOf(() => jobs.report({ ...call })),
      forged: await codeOf(() => jobs.report({ id, workerId: 'nobody', fraction: 1 })),
      unknown: await codeOf(() => jobs.progress(job(99).id!)),
    };
  },

  'schedules are kept': async ({ crons }) => {
    const template = { type: 'report.make', args: [] };
    const daily = { name: 'daily', expression: '0 9 * * *', timezone: 'Europe/Berlin', job_template: template };
    return {
      put: await crons.put({ ...daily, description: 'd', overlap_policy: 'allow', catch_up_limit: 3 }),
      got: await crons.get('daily'),
      paused: await crons.setEnabled('daily', false),
      resumed: await crons.setEnabled('daily', true),
      listed: await crons.list(),
      removed: await crons.remove('daily'),
      gone: await refusal(crons.get('daily')),
      bad: await refusal(crons.put({ ...daily, expression: 'never' })),
    };
  },

  'workflows run': async ({ workflows, jobs }) => {
    const node = (id: string, ...depends_on: string[]) => ({ id, depends_on, type: 'test.job', args: [id] });
    const { id, ...created } = await workflows.create({ name: 'w', nodes: [node('a'), node('b', 'a')] });
    const [{ token, job: first }] = (await jobs.claim(claim)) as [Lease];
    await jobs.settle({ id: first.id, leaseToken: token, outcome: { kind: 'completed', result: 7 } });
    const [second] = await jobs.claim({ ...claim, claimId: 'claim-0002', waitMs: 5_000 });
    const withoutId = ({ id: _, ...rest }: { id: string }) => rest;
    const edgesOf = ({ node: name, dependsOn, type, state }: WorkflowNode) => ({ name, dependsOn, type, state });
    return {
      created,
      parentResults: second!.parentResults,
      got: withoutId(await workflows.get(id)),
      listed: (await workflows.list({ limit: 5, states: ['running'] })).items.map(withoutId),
      nodes: (await workflows.nodes(id, { limit: 5 })).items.map(edgesOf).sort((a, b) => (a.name! < b.name! ? -1 : 1)),
      grown: withoutId(await workflows.addNodes(id, [node('c', 'b')])),
      cancelled: withoutId(await workflows.cancel(id)),
      resumed: await codeOf(() => workflows.resume(id)),
    };
  },

  'the log is read and followed': async ({ jobs, events }) => {
    const begin = await events.end();
    for (const n of [1, 2, 3]) await jobs.enqueue(job(n, { options: { queue: n === 2 ? 'b' : 'a' } }));
    const filter = { queues: ['a'], types: ['job.enqueued'] } as const;
    const first = await events.read({ limit: 1 });
    return {
      begin,
      first,
      rest: await events.read({ limit: 10, after: first.cursor, filter }),
      one: await events.read({ limit: 10, filter: { jobIds: [job(2).id!] } }),
      followed: await take(events.follow({ filter, signal: new AbortController().signal }), 2),
      behind: await take(events.follow({ after: first.cursor, signal: new AbortController().signal }), 2),
      end: await events.end(),
      bad: await codeOf(() => events.read({ limit: 1, after: 'nonsense' })),
    };
  },

  'a call may be about another tenant': async (waybill) => {
    const { jobs, deadLetters, queues, limits, crons, workflows, workers, events } = waybill;
    const at = { tenant: 'other' };
    const signal = new AbortController().signal;
    const limited = { options: { rate_limit: { key: 'api', concurrency: 1 } } };
    const enqueued = await jobs.enqueue(job(1, limited), at);
    const [lease] = (await jobs.claim({ ...claim, ...at })) as [Lease];
    const held = { ...at, id: lease.job.id, leaseToken: lease.token };
    const outcome = { kind: 'discarded', error: failure, deadLetter: true } as const;
    const template = { type: 'report.make', args: [] };
    const { id: flow } = await workflows.create({ type: 'chain', steps: [template] }, at);
    return {
      enqueued,
      lease,
      many: await jobs.enqueueMany([job(2), job(3, { options: { pending: true } })], at),
      reported: await jobs.report({ ...held, number: 1, fraction: 0.5 }),
      progress: await jobs.progress(held.id, at),
      beat: await jobs.heartbeat({ ...at, workerId: 'w1', jobs: [held] }),
      settled: await jobs.settle({ ...held, outcome }),
      elsewhere: await refusal(jobs.get(held.id)),
      got: await jobs.get(held.id, at),
      listed: (await jobs.list({ filter: { ...at, types: ['test.job'] }, limit: 10 })).items,
      none: await jobs.list({ limit: 10 }),
      cancelled: await jobs.cancel(job(2).id!, at),
      activated: await jobs.activate(job(3).id!, at),
      retried: await jobs.retry(job(2).id!, at),
      dead: await deadLetters.list({ filter: at, limit: 10 }),
      one: await deadLetters.get(held.id, at),
      counted: [
        await deadLetters.stats(at),
        await deadLetters.stats(),
        await deadLetters.stats({ queues: ['no'], ...at }),
      ],
      replayed: await deadLetters.replay(held.id, at),
      many2: [await deadLetters.replayMany(at), await deadLetters.discardMany(at)],
      queues: [await queues.list(at), await queues.list(), await queues.stats('default', at)],
      paused: [await queues.pause('default', at), await queues.resume('default', at)],
      changed: [await queues.setKeep('default', 'none', at), await queues.setLimit('default', null, at)],
      limits: [await limits.get('api', at), await limits.set('api', { concurrency: 2, rate: null }, at)],
      cron: await crons.put({ name: 'daily', expression: '@daily', job_template: template }, at),
      crons: [await crons.list(at), await crons.list(), await crons.get('daily', at)],
      uncron: [await crons.setEnabled('daily', false, at), await crons.remove('daily', at)],
      flows: (await workflows.list({ ...at, limit: 10 })).items.map(({ tenant, state }) => [tenant, state]),
      nodes: (await workflows.nodes(flow, { ...at, limit: 10 })).items.map(({ tenant, type }) => [tenant, type]),
      flow: [(await workflows.get(flow, at)).tenant, (await workflows.cancel(flow, at)).tenant],
      workers: [await workers.list(at), await workers.list(), await workers.direct('w1', 'quiet', at)],
      events: (await events.read({ filter: { ...at, jobIds: [held.id] }, limit: 100 })).events,
      silence: (await events.read({ limit: 100 })).events,
      followed: await take(events.follow({ filter: { ...at, jobIds: [held.id] }, signal }), 3),
    };
  },

  'health is told': async (waybill) => ({ health: await waybill.health() }),
};

describe.each(['', 'acme'])(
  'the remote client answers what the embedded engine answers, for the tenant "%s"',
  (tenant) => {
    test.each(Object.entries(SCENARIOS))('%s', async (_what, scenario) => {
      const [here, there] = [remoteHarness(), remoteHarness({}, { tenant })];
      const embedded = await scenario(inTenant(here.waybill, tenant), (ms) => here.clock.advance(ms));
      const answered = await scenario(there.client, (ms) => there.clock.advance(ms));
      expect(Object.keys(answered)).toEqual(Object.keys(embedded));
      for (const name of Object.keys(embedded))
        expect({ [name]: carried(answered[name]) }).toEqual({ [name]: carried(embedded[name]) });
    });
  },
);
