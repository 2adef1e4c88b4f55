import type { Job, Lease, NewEntry, Outcome, WorkflowInfo, WorkflowNode } from '@waybill/core';
import { jobIdAt, TEST_EPOCH } from '@waybill/core/testing';
import { expect } from 'vitest';
import { take } from '../testing/remote-harness.ts';
import {
  type Answers,
  claim,
  codeOf,
  expectSameAnswers,
  failure,
  job,
  refusal,
  type Scenario,
} from '../testing/same-answers.ts';

const SCENARIOS: Record<string, Scenario> = {
  'workflows with conditions and maps are read': async ({ workflows, jobs }) => {
    const node = { type: 'test.job', args: [] };
    const nodes = [
      { id: 'a', ...node },
      { id: 'b', depends_on: ['a'], when: { parent: 'a', path: 'ok', equals: true }, ...node },
      { id: 'c', depends_on: ['a'], map: { over: { parent: 'a', path: 'list' } }, ...node },
    ];
    const { id } = await workflows.create({ nodes });
    const [lease] = await jobs.claim(claim);
    const outcome: Outcome = { kind: 'completed', result: { ok: false, list: [1] } };
    await jobs.settle({ id: lease!.job.id, leaseToken: lease!.token, outcome });
    const items = await jobs.claim({ ...claim, claimId: 'claim-second', waitMs: 5_000 });
    const { items: found } = await workflows.nodes(id, { limit: 10 });
    const told = ({ node: name, state, outcome: came, spec }: Job) => ({ name, state, came, rules: spec.rules });
    const { completed, skipped, total } = await workflows.get(id);
    const inOrder = found.map(told).sort((a, b) => (a.name! < b.name! ? -1 : 1));
    return { given: items.map(({ job: { spec } }) => spec.args), nodes: inOrder, completed, skipped, total };
  },
  'workflows take signals and reviews': async ({ workflows, jobs }) => {
    const node = { type: 'test.job', args: [] };
    const { id } = await workflows.create({
      nodes: [
        { id: 'a', review: { timeout_ms: 60_000 }, ...node },
        { id: 'b', signal: true },
      ],
    });
    const work = async (claimId: string, result: string) => {
      const [lease] = await jobs.claim({ ...claim, claimId });
      await jobs.settle({ id: lease!.job.id, leaseToken: lease!.token, outcome: { kind: 'completed', result } });
      return { node: lease!.job.node, revision: lease!.revision, rules: lease!.job.spec.rules };
    };
    const nodes = async () =>
      (await workflows.nodes(id, { limit: 10 })).items
        .map(({ node: name, state, result, waiting }) => ({ name, state, result, waiting: waiting?.for }))
        .sort((a, b) => (a.name! < b.name! ? -1 : 1));
    const counts = ({ state, total, completed }: WorkflowInfo) => ({ state, total, completed });
    return {
      early: await codeOf(() => workflows.approve(id, 'a')),
      first: await work('claim-first', 'one'),
      revised: counts(await workflows.requestRevision(id, 'a', { feedback: 'Again.' }, { by: 'ann' })),
      second: await work('claim-second', 'two'),
      waiting: await nodes(),
      other: await codeOf(() => workflows.approve(id, 'a', { iteration: 1 })),
      approved: counts(await workflows.approve(id, 'a', { comment: 'Good.', iteration: 2 }, { by: 'ann' })),
      unknown: await codeOf(() => workflows.signal(id, 'a', 1)),
      sent: counts(await workflows.signal(id, 'b', { x: [1] }, { by: 'bank' })),
      again: counts(await workflows.signal(id, 'b', { x: [1] })),
      different: await codeOf(() => workflows.signal(id, 'b', null)),
      ended: await nodes(),
    };
  },
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

  'a tenant is limited and looked at': async ({ jobs, tenants }) => {
    const { job } = await jobs.enqueue({ type: 'test.job', args: [] });
    const { tenant } = job;
    const enqueueRate = { limit: 5, periodMs: 1_500 };
    return {
      set: await tenants.setLimits(tenant, { waiting: 1, enqueueRate }),
      full: await refusal(jobs.enqueue({ type: 'test.job', args: [] })),
      got: await tenants.get(tenant),
      stats: await tenants.stats(tenant),
      listed: await tenants.list({ limit: 10 }),
      wrong: await refusal(tenants.setLimits(tenant, { concurrency: 0.5 })).then((error) => Boolean(error)),
      changed: await tenants.setLimits(tenant, { waiting: null, concurrency: 3 }),
    };
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

  'a run asks, and learns the answer': async ({ jobs, questions }, pass) => {
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
    const listed = await questions.list({ status: 'open', jobId: id });
    const wrong = await refusal(questions.answer(asked.id, { choice: 'maybe' }));
    const answered = await questions.answer(asked.id, { choice: 'yes', text: 'Go.' }, { by: 'ann' });
    const more = [await questions.get(asked.id), await refusal(questions.answer(asked.id, { choice: 'no' }))];
    return {
      ...{ listed, wrong, more, unknownQuestion: await refusal(questions.get('x')) },
      refused: await codeOf(() => questions.list({ status: 'done' as never })),
      ...{ asked, asleep, answered, awake: await jobs.get(id), found: await jobs.ask(await run('claim-answered')) },
      noToken: await codeOf(() => jobs.ask({ ...call, leaseToken: undefined as never })),
      empty: await codeOf(() => jobs.ask({ ...call, choices: [] })),
      bad: await codeOf(() => jobs.ask({ ...call, expiresInMs: 1 })),
      late: await codeOf(() => jobs.ask(call)),
      unknown: await codeOf(() => jobs.ask({ ...call, id: job(99).id! })),
    };
  },

  'a job is explained': async ({ jobs, queues }) => {
    const limited = { rate_limit: { key: 'one', concurrency: 1 } };
    const { id } = (await jobs.enqueue(job(80, { options: limited }))).job;
    await jobs.enqueue(job(81, { options: limited }));
    const ready = await jobs.explain(id);
    await jobs.claim({ queues: ['default'], claimId: 'claim-explain', workerId: 'w1' });
    await queues.pause('default');
    return {
      ...{ ready, running: await jobs.explain(id), parked: await jobs.explain(job(81).id!) },
      unknown: await refusal(jobs.explain(job(99).id!)),
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

  'budgets are set, spent of and looked at': async ({ jobs, budgets }) => {
    const { id } = (await jobs.enqueue(job(92))).job;
    const [lease] = await jobs.claim({ queues: ['default'], claimId: 'claim-budgets' });
    const call = { id, leaseToken: lease!.token };
    const usd = { unit: 'usd', period: 'month', limit: 5 } as const;
    return {
      unlimited: await jobs.spend({ ...call, amounts: { usd: 1 } }),
      set: await budgets.set(usd),
      ofKey: await budgets.set({ ...usd, period: 'total', key: 'crm: äcme/7?' }),
      spent: await jobs.spend({ ...call, number: 1, amounts: { usd: 4, pages: 2 }, key: 'crm: äcme/7?' }),
      repeated: await jobs.spend({ ...call, number: 1, amounts: { usd: 4 } }),
      exceeded: await jobs.spend({ ...call, number: 2, amounts: { usd: 1.5 } }),
      got: await budgets.get('usd:total:crm: äcme/7?'),
      listed: await budgets.list(),
      page: await budgets.list({ limit: 1 }),
      raised: await budgets.set({ ...usd, limit: 50 }),
      removed: await budgets.remove('usd:total:crm: äcme/7?'),
      unknown: await refusal(budgets.get('usd:day')),
      again: await refusal(budgets.remove('usd:total:crm: äcme/7?')),
      bad: await codeOf(() => jobs.spend({ ...call, amounts: {} })),
      worse: await codeOf(() => jobs.spend({ ...call, amounts: { usd: -1 } })),
      forged: await codeOf(() => jobs.spend({ id, workerId: 'nobody', amounts: { usd: 1 } })),
      nobody: await codeOf(() => jobs.spend({ id: job(99).id!, amounts: { usd: 1 } })),
    };
  },

  'a run is listened to': async ({ jobs }, pass) => {
    const { id } = (await jobs.enqueue(job(91))).job;
    const silent = await jobs.journal(id);
    const [lease] = await jobs.claim({ queues: ['default'], workerId: 'w1', claimId: 'claim-journal' });
    const call = { id, leaseToken: lease!.token };
    const signal = new AbortController().signal;
    const bytes: NewEntry = { sequence: 4, type: 'output', stream: 'stderr', output: Uint8Array.of(0, 255, 128) };
    const started: NewEntry = { sequence: 0, type: 'process.started', at: TEST_EPOCH, data: { pid: 7 } };
    const text: NewEntry = { sequence: 9, type: 'output', output: new TextEncoder().encode('\ufeffhä\n') };
    const answers = {
      silent,
      appended: await jobs.append({ ...call, entries: [started, bytes] }),
      repeated: await jobs.append({ ...call, entries: [started, bytes] }),
      byWorker: await jobs.append({ id, workerId: 'w1', entries: [text] }),
      read: await jobs.journal(id),
      page: await jobs.journal(id, { limit: 1 }),
      rest: await jobs.journal(id, { cursor: '1.0', types: ['output'], run: 1, fromSequence: 5, fromTime: 1 }),
      all: await jobs.journal(id, { types: [] }),
      late: await refusal(jobs.append({ ...call, entries: [{ sequence: 5, type: 'note' }] })),
      empty: await codeOf(() => jobs.append({ ...call, entries: [] })),
      noBytes: await codeOf(() => jobs.append({ ...call, entries: [{ ...bytes, output: 'text' as never }] })),
      noTime: await codeOf(() => jobs.append({ ...call, entries: [{ ...bytes, at: Number.NaN }] })),
      noName: await codeOf(() => jobs.append({ ...call, entries: [{ sequence: 10, type: 'a b' }] })),
      noCursor: await codeOf(() => jobs.journal(id, { cursor: 'nonsense' })),
      noFollow: await codeOf(() => take(jobs.follow(id, { signal, cursor: 'nonsense' }), 1)),
      unknown: await refusal(jobs.journal(job(99).id!)),
      nobody: await codeOf(() => take(jobs.follow(job(99).id!, { signal }), 1)),
      begun: await take(jobs.follow(id, { signal, lifecycle: true }), 4),
    };
    await pass(1);
    await jobs.settle({ ...call, outcome: { kind: 'completed', result: null } });
    return {
      ...answers,
      ended: await refusal(jobs.append({ ...call, entries: [{ sequence: 10, type: 'note' }] })),
      followed: await take(jobs.follow(id, { signal }), 99),
      resumed: await take(jobs.follow(id, { signal, cursor: '1.4', types: ['output'] }), 99),
      whole: await take(jobs.follow(id, { signal, lifecycle: true }), 99),
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
      resumedOne: await codeOf(() => workflows.resume(id, { nodes: ['0'] })),
      resumedNone: await refusal(workflows.resume(id, { nodes: [] })),
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

  'health is told': async (waybill) => ({ health: await waybill.health() }),
};

expectSameAnswers(SCENARIOS);
