import { jobFromWire, jobToWire } from '@waybill/client';
import { inTenant, type Job, type JobRequest, type Lease, type NewEntry, type Waybill } from '@waybill/core';
import { jobIdAt, TEST_EPOCH } from '@waybill/core/testing';
import { describe, expect, test } from 'vitest';
import { harness } from '../testing/harness.ts';
import { take } from '../testing/remote-harness.ts';
import { rpcHarness } from '../testing/rpc-harness.ts';

type Answers = Record<string, unknown>;
/** `beside`: what the RPC interface does not have is called in the process of the server. */
type Scenario = (waybill: Waybill, pass: (ms: number) => Promise<void>, beside: Waybill) => Promise<Answers>;

const job = (n: number, over: Partial<JobRequest> = {}): JobRequest => ({
  ...{ type: 'test.job', args: [n], id: jobIdAt(TEST_EPOCH, n) },
  ...over,
});
const claim = { queues: ['default'], workerId: 'w1', leaseMs: 1_000, claimId: 'claim-first' };
const failure = {
  ...{ code: 'smtp_down', message: 'no', type: 'SmtpError', retryable: true, retryAfterMs: 90_000 },
  details: { host: 'mail' },
};
const nested = (depth: number): unknown => (depth === 0 ? 'deep' : { a: [nested(depth - 1)] });

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

async function whole<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

const isJob = (value: object): value is Job => 'spec' in value && 'maxAttempts' in value;

/** The wire does not carry everything: what it leaves out is left out on both sides. */
function carried(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  if (Array.isArray(value)) return value.map(carried);
  if (isJob(value)) return jobFromWire(jobToWire(value), value.tenant);
  const { version: _version, hint: _hint, ...rest } = value as Answers;
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
    odd: await jobs.enqueue(job(9, { args: [null, 0.1, 1e21, '\u0000\ud83d\ude00', [], {}, nested(8) as never] })),
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
    noArgs: await codeOf(() => jobs.enqueue(job(8, { args: undefined as never }))),
    noList: await codeOf(() => jobs.enqueue(job(8, { args: 'x' as never }))),
    noType: await codeOf(() => jobs.enqueue(job(8, { type: 7 as never }))),
    noLimit: await codeOf(() => jobs.list({ limit: 0 })),
  }),

  'more jobs than a page of a server has': async ({ jobs }) => {
    for (const from of [1, 101, 201]) {
      await jobs.enqueueMany(Array.from({ length: 100 }, (_, n) => job(from + n)));
    }
    const first = await jobs.list({ limit: 250 });
    return {
      first: first.items.map(({ id }) => id),
      rest: (await jobs.list({ limit: 250, cursor: first.cursor! })).items.map(({ id }) => id),
      more: first.cursor !== undefined,
    };
  },

  'a worker takes jobs and says what came of them': async ({ jobs, events }, pass) => {
    const outcomes = [
      { kind: 'completed', result: { sent: true } },
      { kind: 'completed', result: null },
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
      events: await events.read({ limit: 1_000 }),
      noQueue: await codeOf(() => jobs.claim({ ...claim, queues: [] })),
      noCount: await codeOf(() => jobs.claim({ ...claim, count: 0 })),
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
      zero: await jobs.report({ ...call, number: 3, fraction: 0 }),
      read: await jobs.progress(id),
      bad: await codeOf(() => jobs.report({ ...call })),
      forged: await codeOf(() => jobs.report({ id, workerId: 'nobody', fraction: 1 })),
      unknown: await codeOf(() => jobs.progress(job(99).id!)),
    };
  },

  'a run spends': async ({ jobs }) => {
    const { id } = (await jobs.enqueue(job(92))).job;
    const [lease] = await jobs.claim({ queues: ['default'], claimId: 'claim-budgets' });
    const call = { id, leaseToken: lease!.token };
    return {
      spent: await jobs.spend({ ...call, number: 1, amounts: { usd: 0.5, pages: 2 }, key: 'ada' }),
      bad: await codeOf(() => jobs.spend({ ...call, amounts: {} })),
      worse: await codeOf(() => jobs.spend({ ...call, amounts: { usd: -1 } })),
      forged: await codeOf(() => jobs.spend({ id, workerId: 'nobody', amounts: { usd: 1 } })),
      nobody: await codeOf(() => jobs.spend({ id: job(99).id!, amounts: { usd: 1 } })),
    };
  },

  'a run speaks, and is read and followed': async ({ jobs }) => {
    const { id } = (await jobs.enqueue(job(1))).job;
    const [lease] = (await jobs.claim(claim)) as [Lease];
    const call = { id, leaseToken: lease.token };
    const entries: NewEntry[] = [
      { sequence: 1, type: 'process.started', data: { pid: 4 } },
      { sequence: 2, type: 'output', stream: 'stderr', output: new Uint8Array([255, 0, 10]) },
      { sequence: 3, type: 'output', output: new Uint8Array(0) },
      { sequence: 7, type: 'user.own', data: [1, null, 'x'], at: TEST_EPOCH + 5 },
      { sequence: 8, type: 'metric', data: { name: 'rows', value: 2.5, more: true } },
      { sequence: 9, type: 'user.null', data: null },
    ];
    const signal = new AbortController().signal;
    const answers: Answers = {
      empty: await jobs.journal(id),
      stored: await jobs.append({ ...call, entries }),
      again: await jobs.append({ ...call, entries }),
      page: await jobs.journal(id, { limit: 2 }),
      all: await jobs.journal(id),
      some: await jobs.journal(id, { fromSequence: 2, types: ['output', 'metric'], run: 1 }),
      late: await jobs.journal(id, { fromTime: TEST_EPOCH + 5 }),
      stale: await refusal(jobs.append({ id, leaseToken: '1.forged', entries: [{ sequence: 10, type: 'x.y' }] })),
      behind: await refusal(jobs.append({ ...call, entries: [{ sequence: 4, type: 'x.y' }] })),
      nothing: await codeOf(() => jobs.append({ ...call, entries: [] })),
      noEntry: await codeOf(() => jobs.append({ ...call, entries: [{ sequence: 1.5, type: 'x.y' }] })),
      noLimit: await codeOf(() => jobs.journal(id, { limit: 0 })),
      unknown: await refusal(jobs.journal(jobIdAt(TEST_EPOCH, 99))),
    };
    await jobs.settle({ ...call, outcome: { kind: 'completed', result: null } });
    const said = await whole(jobs.follow(id, { lifecycle: true, signal }));
    return {
      ...answers,
      said,
      rest: await whole(jobs.follow(id, { cursor: said[3]!.cursor, signal })),
      typed: await whole(jobs.follow(id, { types: ['user.own'], fromSequence: 7, signal })),
      nobody: await codeOf(() => take(jobs.follow(jobIdAt(TEST_EPOCH, 99), { signal }), 1)),
    };
  },

  'a run asks, and learns the answer': async ({ jobs }, pass, beside) => {
    const { id } = (await jobs.enqueue(job(31))).job;
    const run = async (claimId: string) => {
      const [lease] = await jobs.claim({ queues: ['default'], claimId });
      return { id, leaseToken: lease!.token, key: 'deploy', text: 'Deploy?', choices: ['yes', 'no'] };
    };
    const call = { ...(await run('claim-ask')), details: { branch: 'main' }, expiresInMs: 3_600_000 };
    const asked = await jobs.ask(call);
    const until = TEST_EPOCH + 10_000;
    await jobs.settle({ id, leaseToken: call.leaseToken, outcome: { kind: 'snoozed', until } });
    const asleep = [await jobs.ask(call), await jobs.get(id)];
    await pass(5_000);
    const given = { choice: 'yes', text: 'Go.' };
    const answered = await beside.questions.answer(asked.id, given, { by: 'ann' });
    return {
      ...{ asked, asleep, answered, awake: await jobs.get(id), found: await jobs.ask(await run('claim-answered')) },
      noToken: await codeOf(() => jobs.ask({ ...call, leaseToken: undefined as never })),
      empty: await codeOf(() => jobs.ask({ ...call, choices: [] })),
      bad: await codeOf(() => jobs.ask({ ...call, expiresInMs: 1 })),
      late: await codeOf(() => jobs.ask(call)),
      unknown: await codeOf(() => jobs.ask({ ...call, id: job(99).id! })),
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

  'a call may be about another tenant': async ({ jobs, events }) => {
    const at = { tenant: 'other' };
    const enqueued = await jobs.enqueue(job(1), at);
    const [lease] = (await jobs.claim({ ...claim, ...at })) as [Lease];
    const held = { ...at, id: lease.job.id, leaseToken: lease.token };
    const entries = [{ sequence: 1, type: 'user.own', data: 1 }];
    return {
      ...{ enqueued, lease },
      many: await jobs.enqueueMany([job(2), job(3, { options: { pending: true } })], at),
      reported: await jobs.report({ ...held, number: 1, fraction: 0.5 }),
      appended: await jobs.append({ ...held, entries }),
      journal: await jobs.journal(held.id, at),
      elsewhere: [await refusal(jobs.get(held.id)), await refusal(jobs.journal(held.id))],
      beat: await jobs.heartbeat({ ...at, workerId: 'w1', jobs: [held] }),
      settled: await jobs.settle({ ...held, outcome: { kind: 'completed', result: 1 } }),
      got: await jobs.get(held.id, at),
      listed: [(await jobs.list({ filter: at, limit: 10 })).items, await jobs.list({ limit: 10 })],
      cancelled: await jobs.cancel(job(2).id!, at),
      activated: await jobs.activate(job(3).id!, at),
      events: (await events.read({ filter: { ...at, jobIds: [held.id] }, limit: 100 })).events,
      silence: (await events.read({ limit: 100 })).events,
      followed: await take(events.follow({ filter: at, signal: new AbortController().signal }), 3),
    };
  },
};

describe.each(['', 'acme'])(
  'the gRPC client answers what the embedded engine answers, for the tenant "%s"',
  (tenant) => {
    test.each(Object.entries(SCENARIOS))('%s', async (_what, scenario) => {
      const [here, there] = [harness(), await rpcHarness({}, { tenant })];
      const own = inTenant(here.waybill, tenant);
      const beside = inTenant(there.waybill, tenant);
      const embedded = await scenario(own, (ms) => here.clock.advance(ms), own);
      const answered = await scenario(there.client, (ms) => there.clock.advance(ms), beside);
      expect(Object.keys(answered)).toEqual(Object.keys(embedded));
      for (const name of Object.keys(embedded))
        expect({ [name]: carried(answered[name]) }).toEqual({ [name]: carried(embedded[name]) });
    });
  },
);
