import type { Job, Store } from '@waybill/core';
import { aJob, settleChange, someJobs, type TestClock } from '@waybill/core/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { canRun, useLocalDynamo } from './testing/bench.ts';
import { allJobs, checkLimit, checkLog } from './testing/crash.ts';
import { type Faults, FaultyClient } from './testing/faulty-client.ts';

const COMPLETED = { kind: 'completed', result: { ok: true } } as const;
let claims = 0;

const request = (clock: TestClock, limit = 3) => ({
  ...{ tenant: '', queues: ['default'], limit, claimId: `claim-${++claims}`, workerId: 'w', leaseMs: 30_000 },
  now: clock.now(),
});

describe.skipIf(!canRun)('what AWS does and DynamoDB Local does not (skipped: needs Java 17)', () => {
  const local = useLocalDynamo();

  async function disturbed(faults: Faults) {
    const client = new FaultyClient(local.client());
    const opened = await local.open({ client });
    onTestFinished(opened.close);
    client.faults = faults;
    return { ...opened, client };
  }

  /** Claims and settles until nothing is left; answers every run that began. */
  async function workOff(stores: readonly Store[], clock: TestClock, jobs: number): Promise<Job[]> {
    const runs: Job[] = [];
    for (let round = 0; runs.length < jobs; round++) {
      expect(round, `${runs.length} of ${jobs} done`).toBeLessThan(60);
      const claimed = await Promise.all(stores.map((store) => store.claim([request(clock)])));
      for (const [index, [own]] of claimed.entries()) {
        runs.push(...own!);
        const settled = await stores[index]!.apply(own!.map((job) => settleChange(job, COMPLETED, clock.now())));
        expect(settled.every((answer) => answer.status === 'applied' && !answer.repeated)).toBe(true);
      }
    }
    return runs;
  }

  // fault: answers of DynamoDB are lost after the write, or writes conflict
  it.each<[string, Faults]>([
    ['answers are lost after the write', { loseEvery: 4 }],
    ['transactions and writes conflict', { conflictEvery: 3 }],
  ])('guarantees 2, 4 and 7 hold when %s', async (_, faults) => {
    const { store, clock } = await disturbed(faults);
    await store.limits.set('', 'k', { concurrency: 2, rate: null }, clock.now());
    const made = [...someJobs(12), ...someJobs(8, { limitKey: 'k' })];
    const answers = await store.insert(made.map((job) => ({ jobs: [job] })));
    expect(answers.map(({ status }) => status)).toEqual(made.map(() => 'inserted'));
    await checkLimit(store, 'k', 2);
    const runs = await workOff([store], clock, made.length);
    expect(runs.map(({ id, run }) => [id, run]).sort()).toEqual(made.map(({ job }) => [job.id, 1]).sort());
    await checkLimit(store, 'k', 2);
    await checkLog(store);
  });

  // fault: the index shows nothing first, then an old state
  it('guarantee 5: an index that shows nothing, and then what was, costs time and no job', async () => {
    const { store, clock, client } = await disturbed({ indexLate: 2 });
    const table = tableOf(client);
    const other = await local.open({ table, clock, client: new FaultyClient(local.client(), { indexLate: 3 }) });
    await store.limits.set('', 'k', { concurrency: 1, rate: null }, clock.now());
    const made = [...someJobs(10), ...someJobs(4, { limitKey: 'k' })];
    await store.insert(made.map((job) => ({ jobs: [job] })));
    const runs = await workOff([store, other.store], clock, made.length);
    expect(runs.map(({ id, run }) => [id, run]).sort()).toEqual(made.map(({ job }) => [job.id, 1]).sort());
    client.faults = {};
    expect((await allJobs(store)).every((job) => job.state === 'completed')).toBe(true);
    await checkLimit(store, 'k', 1);
    await checkLog(store);
  });

  // fault: the index shows nothing first, then an old state
  it('guarantee 5: an alarm that the index shows late rings late, and once', async () => {
    const { store, clock } = await disturbed({ indexLate: 2 });
    const { job } = aJob({ scheduledAt: clock.now() + 1000 });
    await store.insert([{ jobs: [{ job, events: [] }] }]);
    await clock.advance(1000);
    const due = async () => (await store.due({ now: clock.now(), limit: 10 })).jobs;
    const looks: number[] = [];
    for (let look = 0; look < 4; look++) looks.push((await due()).length);
    expect(looks).toEqual([0, 0, 1, 1]);
  });

  it('a throttled request is made again, and given up after a while with the code for it', async () => {
    const { store, client } = await disturbed({ throttle: 3 });
    expect(await store.insert([{ jobs: [aJob()] }])).toMatchObject([{ status: 'inserted' }]);
    client.faults = { throttle: 1000 };
    const refused = store.insert([{ jobs: [aJob()] }]);
    await expect(refused).rejects.toMatchObject({ name: 'WaybillError', code: 'resource_exhausted', retryable: true });
    expect(client.requests.length).toBeLessThan(50);
  });

  const tableOf = ({ tables }: FaultyClient): string => [...tables][0]!;
});
