import { describe, expect, test, vi } from 'vitest';
import { WaybillError } from '../errors.ts';
import { isFinished } from '../job/job.ts';
import type { JsonObject } from '../json.ts';
import { type TestEngine, testEngine } from '../testing/test-engine.ts';
import { asking, run } from '../testing/test-questions.ts';
import type { LoggedEvent } from './job-event.ts';
import type { SUBJECT_EVENT_TYPES } from './subject-event.ts';

type Type = (typeof SUBJECT_EVENT_TYPES)[number];

interface Case {
  /** Makes it happen; answers the subject, and what the event must say. */
  run(engine: TestEngine): Promise<{ subject: string; data: JsonObject }>;
}

const MINUTE = 60_000;
const CRON = { name: 'tick', expression: '* * * * *', job_template: { type: 'cron.job', args: [] } };
const FACTS = { cron_name: 'tick', cron_expr: '* * * * *', timezone: 'UTC', job_type: 'cron.job' };
const CHAIN = {
  type: 'chain',
  name: 'both',
  steps: [
    { type: 'step.one', args: [] },
    { type: 'step.two', args: [] },
  ],
};

async function settleNext({ waybill, claimOne }: TestEngine, kind: 'completed' | 'discarded'): Promise<string> {
  const { job, token } = await claimOne();
  const error = { code: 'boom', message: 'It broke.' };
  const outcome = kind === 'completed' ? ({ kind, result: null } as const) : ({ kind, error } as const);
  await waybill.jobs.settle({ id: job.id, leaseToken: token, outcome });
  return job.id;
}

/** Nothing of the workflow is on its way any more: a late look would end it again, and it would be resumed twice. */
const atRest = ({ waybill }: TestEngine, id: string): Promise<void> =>
  vi.waitFor(async () => {
    const { items } = await waybill.workflows.nodes(id);
    const jobs = await Promise.all(items.map((node) => waybill.jobs.get(node.id)));
    if (jobs.some(({ advancePending, state }) => advancePending || !isFinished(state))) throw new Error('Not yet.');
  });

const names = (id: string) => ({ workflow_id: id, workflow_name: 'both' });

/** A type without its case does not compile. */
const CASES: Record<Type, Case> = {
  'queue.paused': {
    run: async ({ waybill }) => {
      await waybill.queues.pause('mail', { by: 'ops' });
      return { subject: 'mail', data: { queue: 'mail', paused_by: 'ops' } };
    },
  },
  'queue.resumed': {
    run: async ({ waybill }) => {
      await waybill.queues.pause('mail');
      await waybill.queues.resume('mail');
      return { subject: 'mail', data: { queue: 'mail' } };
    },
  },
  'queue.limit_changed': {
    run: async ({ waybill }) => {
      await waybill.queues.setLimit('mail', { concurrency: 2, rate: { limit: 5, periodMs: 1_000 } });
      return { subject: 'mail', data: { queue: 'mail', concurrency: 2, rate: { limit: 5, period_ms: 1_000 } } };
    },
  },
  'queue.keep_changed': {
    run: async ({ waybill }) => {
      await waybill.queues.setKeep('mail', 'none');
      return { subject: 'mail', data: { queue: 'mail', keep: 'none' } };
    },
  },
  'cron.registered': {
    run: async ({ waybill }) => {
      await waybill.crons.put(CRON);
      return { subject: 'tick', data: FACTS };
    },
  },
  'cron.enabled': {
    run: async ({ waybill }) => {
      await waybill.crons.put({ ...CRON, enabled: false });
      await waybill.crons.setEnabled('tick', true);
      return { subject: 'tick', data: FACTS };
    },
  },
  'cron.disabled': {
    run: async ({ waybill }) => {
      await waybill.crons.put(CRON);
      await waybill.crons.setEnabled('tick', false);
      return { subject: 'tick', data: FACTS };
    },
  },
  'cron.removed': {
    run: async ({ waybill }) => {
      await waybill.crons.put(CRON);
      await waybill.crons.remove('tick');
      return { subject: 'tick', data: FACTS };
    },
  },
  'cron.triggered': {
    run: async ({ waybill, clock }) => {
      await waybill.crons.put(CRON);
      await clock.advance(MINUTE);
      const [job] = (await waybill.jobs.list({ limit: 1 })).items;
      const scheduled_at = new Date(clock.now()).toISOString();
      return { subject: 'tick', data: { ...FACTS, job_id: job!.id, scheduled_at } };
    },
  },
  'cron.skipped': {
    run: async ({ waybill, clock }) => {
      await waybill.crons.put(CRON);
      await clock.advance(MINUTE);
      await clock.advance(MINUTE);
      const [job] = (await waybill.jobs.list({ limit: 1 })).items;
      const why = { reason: 'overlap_prevention', existing_job_id: job!.id };
      return { subject: 'tick', data: { ...FACTS, ...why, scheduled_at: new Date(clock.now()).toISOString() } };
    },
  },
  'workflow.started': {
    run: async ({ waybill }) => {
      const { id } = await waybill.workflows.create(CHAIN);
      return { subject: id, data: { ...names(id), total_steps: 2 } };
    },
  },
  'workflow.step_completed': {
    run: async (made) => {
      const { id } = await made.waybill.workflows.create(CHAIN);
      await settleNext(made, 'completed');
      const { items } = await made.waybill.workflows.nodes(id, { limit: 10 });
      const first = items.find(({ type }) => type === 'step.one')!;
      const step = { step_id: first.node, step_type: 'step.one', duration_ms: 0, steps_remaining: 1 };
      return { subject: id, data: { ...names(id), ...step } };
    },
  },
  'workflow.completed': {
    run: async (made) => {
      const { id } = await made.waybill.workflows.create(CHAIN);
      await made.clock.advance(5);
      for (const _ of CHAIN.steps) await settleNext(made, 'completed');
      return { subject: id, data: { ...names(id), total_steps: 2, duration_ms: 5 } };
    },
  },
  'workflow.failed': {
    run: async (made) => {
      const { id } = await made.waybill.workflows.create(CHAIN);
      const failed = await settleNext(made, 'discarded');
      const { node, type } = await made.waybill.jobs.get(failed);
      const error = { code: 'boom', message: 'It broke.' };
      const end = { total_steps: 2, duration_ms: 0, failed_step_id: node, failed_step_type: type, error };
      return { subject: id, data: { ...names(id), ...end } };
    },
  },
  'workflow.cancelled': {
    run: async ({ waybill }) => {
      const { id } = await waybill.workflows.create(CHAIN);
      await waybill.workflows.cancel(id);
      return { subject: id, data: names(id) };
    },
  },
  'workflow.resumed': {
    run: async (made) => {
      const { id } = await made.waybill.workflows.create(CHAIN);
      await settleNext(made, 'discarded');
      await atRest(made, id);
      await made.waybill.workflows.resume(id);
      return { subject: id, data: names(id) };
    },
  },
  'worker.started': {
    run: async ({ waybill }) => {
      await waybill.jobs.heartbeat({ workerId: 'w', jobs: [] });
      return { subject: 'w', data: { worker_id: 'w', active_jobs: 0 } };
    },
  },
  'worker.quiet': { run: (made) => directed(made, 'quiet') },
  'worker.terminating': { run: (made) => directed(made, 'terminate') },
  'budget.warned': { run: (made) => spentOf(made, 8) },
  'budget.exceeded': { run: (made) => spentOf(made, 11) },
  'audit.recorded': {
    run: async ({ waybill }) => {
      const entry = { principal: 'ops', action: 'queues.pause', target: 'mail', outcome: 'ok' } as const;
      await waybill.audit!.record({ ...entry, requestId: 'r1', address: '::1' });
      return {
        subject: 'ops',
        data: { action: 'queues.pause', target: 'mail', outcome: 'ok', request_id: 'r1', address: '::1' },
      };
    },
  },
  'question.asked': {
    run: async ({ waybill }) => {
      const { question, id: job_id } = await asking(waybill);
      const expires_at = new Date(question.expiresAt).toISOString();
      const facts = { key: 'deploy', text: 'Deploy?', expires_at, choices: ['yes', 'no'] };
      return { subject: question.id, data: { job_id, ...facts } };
    },
  },
  'question.answered': {
    run: async ({ waybill }) => {
      const { question, id: job_id } = await asking(waybill);
      await waybill.questions.answer(question.id, { choice: 'yes' });
      return { subject: question.id, data: { job_id, choice: 'yes' } };
    },
  },
  'question.expired': {
    run: async ({ waybill, clock }) => {
      const { question, id: job_id, ask } = await asking(waybill, 'deploy', { expiresInMs: 1_000 });
      await waybill.jobs.settle({ id: job_id, leaseToken: ask.leaseToken, outcome: { kind: 'requeued' } });
      await clock.set(question.expiresAt);
      await run(waybill, job_id);
      return { subject: question.id, data: { job_id } };
    },
  },
  'health.checked': {
    run: async ({ waybill, enqueue, claimOne }) => {
      await enqueue();
      await claimOne();
      await waybill.checks.round!();
      const summary = { total_processing: 1, healthy: 1, warning: 0, critical: 0, overtime: 0 };
      return { subject: 'running-jobs', data: { status: 'healthy', cut: false, summary, tasks: [] } };
    },
  },
  'maintenance.failed': { run: failTwice },
  'worker.resumed': {
    run: async (made) => {
      await directed(made, 'quiet');
      return directed(made, 'running');
    },
  },
};

async function spentOf(made: TestEngine, spent: number) {
  const { waybill, clock, enqueue, claimOne } = made;
  await waybill.budgets.set({ unit: 'pages', period: 'day', key: 'ada', limit: 10 });
  const id = await enqueue();
  const { token } = await claimOne();
  await waybill.jobs.spend({ id, leaseToken: token, amounts: { pages: spent }, key: 'ada' });
  const ends_at = new Date((Math.floor(clock.now() / 86_400_000) + 1) * 86_400_000).toISOString();
  const budget = { budget: 'pages:day:ada', key: 'ada', unit: 'pages', period: 'day', limit: 10 };
  return { subject: 'pages:day:ada', data: { ...budget, spent, left: Math.max(0, 10 - spent), job_id: id, ends_at } };
}

async function failTwice(made: TestEngine) {
  await made.waybill.crons.put({ ...CRON, overlap_policy: 'cancel_previous' });
  // The job of the tick before cannot be looked at.
  await made.clock.advance(MINUTE);
  const get = made.store.get;
  made.store.get = async () => {
    throw new WaybillError('internal', 'no');
  };
  await made.clock.advance(MINUTE);
  await made.clock.advance(2_000);
  made.store.get = get;
  const next_try_at = new Date(made.clock.now() - 1_000 + 2_000).toISOString();
  const facts = { kind: 'cron', id: 'tick', reason: 'no', failures: 2, next_try_at };
  return { subject: 'cron:tick', data: facts };
}

async function directed({ waybill }: TestEngine, directive: 'quiet' | 'terminate' | 'running') {
  await waybill.jobs.heartbeat({ workerId: 'w', jobs: [] });
  await waybill.workers.direct('w', directive);
  return { subject: 'w', data: { worker_id: 'w' } };
}

const all = async ({ waybill }: TestEngine): Promise<LoggedEvent[]> =>
  (await waybill.events.read({ limit: 1_000 })).events;

describe('C8: the log tells of more than jobs', () => {
  test.each(Object.entries(CASES))('%s', async (type, { run }) => {
    const made = testEngine();
    const { subject, data } = await run(made);
    const events = await all(made);
    const found = events.filter((event) => event.type === type);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ type, tenant: '', subject });
    expect(found[0]!.data).toEqual(data);
    // Guarantee 4, for whatever else was told on the way.
    const lines = Map.groupBy(events, (one) => `${one.type.split('.')[0]} ${one.subject ?? one.jobId} ${one.source}`);
    for (const line of lines.values())
      expect(line.map(({ sequence }) => sequence)).toEqual(line.map((_, at) => at + 1));
  });

  test('a heartbeat tells until when the lease holds, and is no progress', async () => {
    const made = testEngine();
    const { waybill, clock, enqueue, claimOne } = made;
    const id = await enqueue();
    const { token } = await claimOne({ workerId: 'w', leaseMs: 10_000 });
    await clock.advance(4_000);
    await waybill.jobs.heartbeat({ workerId: 'w', jobs: [{ id, leaseToken: token }] });
    const [beat] = (await all(made)).filter(({ type }) => type === 'job.heartbeat');
    const visible_until = new Date(clock.now() + 10_000).toISOString();
    expect(beat).toMatchObject({ jobId: id, jobType: 'test.job', queue: 'default', attempt: 1, run: 1 });
    expect(beat!.data).toEqual({ worker_id: 'w', visible_until });
    expect(await waybill.jobs.progress(id)).toBeNull();
  });

  test('a heartbeat that makes no lease longer is not told, and a report is none', async () => {
    const made = testEngine();
    const { waybill, clock, enqueue, claimOne } = made;
    const id = await enqueue();
    const { token } = await claimOne({ workerId: 'w', leaseMs: 10_000 });
    const beat = () => waybill.jobs.heartbeat({ workerId: 'w', jobs: [{ id, leaseToken: token }] });
    await beat();
    await clock.advance(1_000);
    await waybill.jobs.report({ id, leaseToken: token, fraction: 0.5 });
    await beat();
    expect((await all(made)).filter(({ type }) => type === 'job.heartbeat')).toEqual([]);
    await clock.advance(1_000);
    await beat();
    await beat();
    expect((await all(made)).filter(({ type }) => type === 'job.heartbeat')).toHaveLength(1);
  });

  test('the last step of a workflow is told before its end, and each step once', async () => {
    const made = testEngine();
    const { id } = await made.waybill.workflows.create(CHAIN);
    for (const _ of CHAIN.steps) await settleNext(made, 'completed');
    const told = (await all(made)).filter(({ subject }) => subject === id);
    expect(told.map(({ type, data }) => [type, data['steps_remaining']])).toEqual([
      ['workflow.started', undefined],
      ['workflow.step_completed', 1],
      ['workflow.step_completed', 0],
      ['workflow.completed', undefined],
    ]);
  });

  test('whoever follows is told at once', async () => {
    const { waybill } = testEngine();
    const stop = new AbortController();
    const stream = waybill.events.follow({ filter: { queues: ['mail'] }, signal: stop.signal })[Symbol.asyncIterator]();
    const next = stream.next();
    await waybill.queues.pause('mail');
    expect((await next).value).toMatchObject({ type: 'queue.paused', subject: 'mail' });
    stop.abort();
  });
});
