import type { Job, NewJob } from '@waybill/core';
import { aCron, aJob, aWorkflow, settleChange, TEST_EPOCH, type TestClock, versionChange } from '@waybill/core/testing';
import { describe, expect, it } from 'vitest';
import { canRun, useLocalDynamo } from './testing/bench.ts';
import { allJobs, checkLimit, crashEverywhere } from './testing/crash.ts';
import { aFact, starting } from './testing/facts.ts';

const COMPLETED = { kind: 'completed', result: { ok: true } } as const;
const LEASE = { claimId: 'claim', workerId: 'w', leaseMs: 600_000 };
const CONCURRENCY = { concurrency: 1, rate: null };

const claimAll = (clock: TestClock, claimId = LEASE.claimId) => ({
  ...{ tenant: '', queues: ['default'], limit: 10, ...LEASE, claimId },
  now: clock.now(),
});

// fault: the process dies after each of its requests in turn, and another one repeats the call
describe.skipIf(!canRun)('a process that dies after any request to DynamoDB (skipped: needs Java 17)', () => {
  const local = useLocalDynamo();

  it('guarantee 1: a plain insert that is repeated makes one job', async () => {
    const tried = await crashEverywhere(local, {
      prepare: async () => aJob({ spec: { args: ['x'.repeat(2000)], meta: {} } }),
      act: (store, made) => store.insert([{ jobs: [made] }]),
      check: async (store, { job }) => expect(await store.get([job])).toEqual([job]),
    });
    expect(tried).toBeGreaterThan(4);
  });

  it('guarantees 7 and 10: a group with keys and a limit goes in as a whole', async () => {
    const unique = { key: 'u', owner: null };
    const tried = await crashEverywhere(local, {
      prepare: async (store, clock) => {
        await store.limits.set('', 'k', CONCURRENCY, clock.now());
        const keyed = aJob({ idempotencyKey: 'once', limitKey: 'k' });
        return [keyed, { ...aJob({ uniqueKey: 'u', limitKey: 'k' }), unique }] as NewJob[];
      },
      act: (store, jobs) => store.insert([{ jobs }]),
      between: async (store) => expect([0, 2]).toContain((await allJobs(store)).length),
      check: async (store) => {
        expect(await allJobs(store)).toHaveLength(2);
        await checkLimit(store, 'k', 1);
      },
    });
    expect(tried).toBeGreaterThan(8);
  });

  it('guarantee 1: a staged group is there as a whole or not at all', async () => {
    const tried = await crashEverywhere(local, {
      prepare: async (store, clock) => {
        await store.limits.set('', 'k', CONCURRENCY, clock.now());
        const plain = Array.from({ length: 11 }, () => aJob());
        return [
          starting(aJob(), 'flow'),
          ...plain,
          aJob({ idempotencyKey: 'once' }),
          aJob({ limitKey: 'k' }),
          aJob({ limitKey: 'k' }),
        ];
      },
      act: (store, jobs) => store.insert([{ jobs, workflow: { create: aWorkflow({ total: 15 }) } }]),
      between: async (store, jobs) => {
        const there = (await store.get(jobs.map(({ job }) => job))).filter((job) => job !== null);
        expect([0, jobs.length]).toContain(there.length);
      },
      check: async (store, jobs) => {
        expect((await store.get(jobs.map(({ job }) => job))).filter((job) => job !== null)).toHaveLength(jobs.length);
        expect(await allJobs(store)).toHaveLength(jobs.length);
        expect(await store.workflows.get('', 'flow')).toMatchObject({ total: 15 });
        await checkLimit(store, 'k', 1);
      },
      tells: ['workflow.started 1'],
    });
    expect(tried).toBeGreaterThan(30);
  });

  it('guarantees 2 and 10: a claim that is repeated starts each job once', async () => {
    const tried = await crashEverywhere(local, {
      prepare: async (store, clock) => {
        await store.limits.set('', 'k', CONCURRENCY, clock.now());
        const jobs = [aJob(), aJob(), aJob({ limitKey: 'k' })];
        await store.insert(jobs.map((job) => ({ jobs: [job] })));
        return jobs;
      },
      act: (store, _, clock) => store.claim([claimAll(clock)]),
      check: async (store, jobs, clock) => {
        const [held] = await store.claim([claimAll(clock)]);
        // The first call may have been about fewer, when it died before it had chosen the rest.
        const [rest] = await store.claim([claimAll(clock, 'another')]);
        const runs = [...held!, ...rest!].map((job) => [job.id, job.run]);
        expect(runs.sort()).toEqual(jobs.map(({ job }) => [job.id, 1]).sort());
      },
    });
    expect(tried).toBeGreaterThan(8);
  });

  it('guarantees 2 and 5: a claim by id in a queue with a limit', async () => {
    const tried = await crashEverywhere(local, {
      prepare: async (store) => {
        await store.queues.setLimit('', 'default', { concurrency: 1, rate: null });
        const jobs = [aJob(), aJob()];
        await store.insert(jobs.map((job) => ({ jobs: [job] })));
        return jobs.map(({ job }) => job.id);
      },
      act: (store, ids, clock) => store.claimById({ tenant: '', ids, ...LEASE, now: clock.now() }),
      check: async (store, ids) => {
        const jobs = await store.get(ids.map((id) => ({ tenant: '', id })));
        expect(jobs.map((job) => job!.state).sort()).toEqual(['active', 'available']);
      },
    });
    expect(tried).toBeGreaterThan(5);
  });

  it('guarantees 4, 7 and 10: a settle that is repeated ends its run once and gives its slot on', async () => {
    const tried = await crashEverywhere(local, {
      prepare: async (store, clock) => {
        await store.limits.set('', 'k', CONCURRENCY, clock.now());
        await store.insert([aJob(), aJob({ limitKey: 'k' }), aJob({ limitKey: 'k' })].map((job) => ({ jobs: [job] })));
        return (await store.claim([claimAll(clock)]))[0]!;
      },
      act: (store, claimed) => store.apply(claimed.map((job) => settleChange(job, COMPLETED, TEST_EPOCH + 5))),
      check: async (store, claimed) => {
        expect(claimed).toHaveLength(2);
        expect((await store.get(claimed)).map((job) => job!.state)).toEqual(['completed', 'completed']);
        await checkLimit(store, 'k', 1);
      },
    });
    expect(tried).toBeGreaterThan(8);
  });

  it('guarantee 7: a replay beside a unique key', async () => {
    const tried = await crashEverywhere(local, {
      prepare: async (store, clock) => {
        await store.insert([{ jobs: [{ ...aJob({ uniqueKey: 'u' }), unique: { key: 'u', owner: null } }] }]);
        const [[job]] = (await store.claim([claimAll(clock)])) as [[Job]];
        const error = { code: 'boom', message: 'It broke.' };
        await store.apply([settleChange(job, { kind: 'discarded', error, deadLetter: true }, clock.now())]);
        return (await store.get([job]))[0]!;
      },
      act: (store, dead, clock) => store.apply([versionChange(dead, { do: 'replay' }, clock.now())!]),
      check: async (store, dead) => {
        expect((await store.get([dead]))[0]).toMatchObject({ state: 'available', version: dead.version + 2 });
      },
    });
    expect(tried).toBeGreaterThan(4);
  });

  it('guarantee 8: a child is dispatched once, by whomever', async () => {
    const tried = await crashEverywhere(local, {
      prepare: async (store, clock) => {
        const parents = [aJob({ workflowId: 'flow', node: 'a' }), aJob({ workflowId: 'flow', node: 'b' })];
        const child = aJob({ workflowId: 'flow', node: 'c', state: 'pending' });
        const edges = parents.map(({ job }) => ({ parent: job.id, child: child.job.id }));
        await store.insert([{ jobs: [...parents, child], edges, workflow: { create: aWorkflow({ total: 3 }) } }]);
        const [claimed] = await store.claim([claimAll(clock)]);
        await store.apply(claimed!.map((job) => settleChange(job, COMPLETED, clock.now())));
        return { ids: claimed!.map(({ id }) => id), child: child.job };
      },
      act: async (store, { ids }, clock) => {
        for (const job of await store.workflows.meet({ tenant: '', ids })) {
          await store.apply([versionChange(job, { do: 'activate' }, clock.now())!]);
        }
        for (const job of await store.get(ids.map((id) => ({ tenant: '', id })))) {
          const done = versionChange(job!, { do: 'advanced' }, clock.now());
          if (done) await store.apply([done]);
        }
      },
      check: async (store, { child }, clock) => {
        expect((await store.get([child]))[0]).toMatchObject({ state: 'available', version: 2 });
        expect((await store.due({ now: clock.now(), limit: 10 })).jobs).toEqual([]);
      },
    });
    expect(tried).toBeGreaterThan(10);
  });

  it('guarantee 9: a tick is fired once', async () => {
    const tried = await crashEverywhere(local, {
      prepare: async (store) => {
        const cron = await store.crons.put(aCron());
        return { cron, job: aJob({ idempotencyKey: 'tick' }) };
      },
      act: (store, { cron, job }) => {
        const expected = { version: cron.version, nextAt: cron.nextAt! };
        const nextAt = cron.nextAt! + 60_000;
        const told = aFact('cron.triggered', cron.name);
        return store.crons.fire({ tenant: '', name: cron.name, expected, nextAt, tick: cron.nextAt!, job, told });
      },
      check: async (store, { cron, job }) => {
        expect(await store.crons.get('', cron.name)).toMatchObject({ runs: 1, lastJobId: job.job.id });
        expect(await allJobs(store)).toHaveLength(1);
      },
      tells: ['cron.triggered 1'],
    });
    expect(tried).toBeGreaterThan(5);
  });

  it('guarantee 8: a workflow ends once, with its callback', async () => {
    const tried = await crashEverywhere(local, {
      prepare: async (store) => {
        const node = starting(aJob({ queue: 'other' }), 'flow');
        await store.insert([{ jobs: [node], workflow: { create: aWorkflow({ total: 1 }) } }]);
        return aJob();
      },
      act: (store, job, clock) =>
        store.workflows.move({
          tenant: '',
          id: 'flow',
          from: 'running',
          to: 'completed',
          now: clock.now(),
          jobs: [job],
          told: aFact('workflow.completed', 'flow'),
        }),
      check: async (store, { job }) => {
        expect(await store.workflows.get('', 'flow')).toMatchObject({ state: 'completed' });
        expect((await store.get([job]))[0]).toMatchObject({ state: 'available' });
      },
      tells: ['workflow.started 1', 'workflow.completed 2'],
    });
    expect(tried).toBeGreaterThan(5);
  });
});
