import type { Lease } from '@waybill/core';
import { take } from '../testing/remote-harness.ts';
import { claim, expectSameAnswers, failure, job, refusal } from '../testing/same-answers.ts';

expectSameAnswers({
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
});
