import { describe, expect, it } from 'vitest';
import type { OpenBench } from './bench.ts';
import { COMPLETED, idsOf } from './bench.ts';

/** What careless columns lose: control characters, lone surrogates, key order, large numbers, empty things. */
const AWKWARD_ARGS = [
  'NUL \u0000, quote \', backslash \\, "double", %s, $1, ?1',
  'lone \ud800 surrogate, pair \u{1f600}, line \u2028 separator',
  { b: 1, a: { '': null, constructor: [] } },
  [1e21, 5e-324, 9007199254740991, -1.5, 0],
  [[], {}, '', null, false],
];

export function testInsert(open: OpenBench): void {
  describe('insert', () => {
    // fault: none, the rule itself
    it('guarantee 1: a job that was answered for can be read, listed and claimed', async () => {
      const bench = await open();
      const made = bench.make();
      const [answer] = await bench.store.insert([{ jobs: [made] }]);
      expect(answer).toEqual({ status: 'inserted', jobs: [made.job], admitted: [] });
      expect(await bench.read(made.job)).toEqual(made.job);
      expect(idsOf((await bench.store.list({ filter: { tenant: '' }, limit: 10 })).items)).toEqual([made.job.id]);
      expect(await bench.eventsOf(made.job)).toEqual(made.events);
      expect(idsOf(await bench.claim())).toEqual([made.job.id]);
    });

    it('keeps every column, and any JSON as it was sent', async () => {
      const bench = await open();
      const made = bench.make({
        type: 'email.send',
        queue: 'mail',
        priority: -7,
        maxAttempts: 9,
        timeoutMs: 1000,
        visibilityMs: 2000,
        expiresAt: bench.now + 90_000,
        scheduledAt: bench.now + 10_000,
        idempotencyKey: 'key-1',
        uniqueKey: 'unique-1',
        limitKey: 'limit-1',
        workflowId: 'flow-1',
        node: 'node-1',
        spec: {
          args: AWKWARD_ARGS,
          meta: { trace: 'abc', nested: { deep: [1, 2] } },
          tags: ['one', 'two'],
          retry: { max_attempts: 9, jitter: false },
          options: { later: true },
          extra: { x_field: 'kept' },
        },
      });
      await bench.insert(made);
      expect(await bench.read(made.job)).toEqual(made.job);
    });

    it('answers the rows of a group in the order given', async () => {
      const bench = await open();
      const size = Math.min(bench.store.capabilities.maxBatch, 300);
      const jobs = Array.from({ length: size }, (_, i) => bench.make({ priority: (i * 7) % 5 }));
      const [answer] = await bench.store.insert([{ jobs }]);
      expect(answer).toEqual({ status: 'inserted', jobs: jobs.map(({ job }) => job), admitted: [] });
    });

    // fault: the same call is made again
    it('guarantee 10: the same id again answers the stored row and writes nothing', async () => {
      const bench = await open();
      const made = bench.make();
      await bench.insert(made);
      const [answer] = await bench.store.insert([{ jobs: [made] }]);
      expect(answer).toEqual({ status: 'exists', index: 0, job: made.job });
      expect(await bench.eventsOf(made.job)).toHaveLength(1);
    });

    // fault: the same call is made again, after the first job has ended
    it('guarantee 10: the same idempotency key again answers the first job, even a finished one', async () => {
      const bench = await open();
      const first = await bench.start({ idempotencyKey: 'order-1' });
      await bench.settle(first, COMPLETED);
      const second = bench.make({ idempotencyKey: 'order-1' });
      const [answer] = await bench.store.insert([{ jobs: [second] }]);
      expect(answer).toEqual({ status: 'repeated', index: 0, job: await bench.read(first) });
      expect(await bench.find(second.job)).toBeNull();
    });

    it.each(['exists', 'repeated'] as const)('a group is all or nothing when one of its jobs %s', async (status) => {
      const bench = await open();
      const known = await bench.add({ idempotencyKey: 'known' });
      const clash = status === 'exists' ? bench.make({ id: known.id }) : bench.make({ idempotencyKey: 'known' });
      const others = [bench.make({ queue: 'other' }), bench.make({ queue: 'other' })];
      const [answer] = await bench.store.insert([{ jobs: [others[0]!, clash, others[1]!] }]);
      expect(answer).toEqual({ status, index: 1, job: known });
      expect(await bench.store.count({ tenant: '' }, { atMost: 10 })).toBe(1);
      expect(await bench.log()).toHaveLength(1);
      expect(await bench.claim({ queues: ['other'] })).toEqual([]);
    });

    it('answers the conflict of the lowest index, and exists before what else is wrong with the same job', async () => {
      const bench = await open();
      const made = bench.make({ idempotencyKey: 'key', uniqueKey: 'u' });
      const first = { ...made, unique: { key: 'u', owner: null } };
      await bench.insert(first);
      const [again] = await bench.store.insert([{ jobs: [first] }]);
      expect(again).toMatchObject({ status: 'exists', index: 0 });
      const repeats = Array.from({ length: 2 }, () => bench.make({ idempotencyKey: 'key' }));
      const [repeated] = await bench.store.insert([{ jobs: [bench.make(), ...repeats] }]);
      expect(repeated).toMatchObject({ status: 'repeated', index: 1 });
      const [known, other] = await bench.addMany(2);
      const same = [known!, other!].map(({ id }) => bench.make({ id }));
      const [exists] = await bench.store.insert([{ jobs: [bench.make(), ...same] }]);
      expect(exists).toMatchObject({ status: 'exists', index: 1, job: { id: known!.id } });
    });

    it('a group that is refused does not take the others of its call with it', async () => {
      const bench = await open();
      const known = bench.make();
      await bench.insert(known);
      const [a, b] = [bench.make(), bench.make()];
      const answers = await bench.store.insert([{ jobs: [a] }, { jobs: [known] }, { jobs: [b] }]);
      expect(answers.map((answer) => answer.status)).toEqual(['inserted', 'exists', 'inserted']);
      expect(idsOf(await bench.claim())).toEqual([known.job.id, a.job.id, b.job.id]);
    });

    // fault: the same call is made again, in one batch
    it('guarantee 10: calls that were coalesced into one do not hide their repetition', async () => {
      const bench = await open();
      const made = bench.make();
      const keyed = [bench.make({ idempotencyKey: 'once' }), bench.make({ idempotencyKey: 'once' })] as const;
      const groups = [made, made, ...keyed].map((job) => ({ jobs: [job] }));
      const answers = await bench.store.insert(groups);
      expect(answers.slice(0, 2).map(({ status }) => status)).toEqual(['inserted', 'exists']);
      expect(answers[2]).toEqual({ status: 'inserted', jobs: [keyed[0].job], admitted: [] });
      expect(answers[3]).toEqual({ status: 'repeated', index: 0, job: keyed[0].job });
      expect(await bench.log()).toHaveLength(2);
    });

    // fault: twenty calls at once
    it('guarantee 10: of twenty concurrent calls with one id or one key, one inserts', async () => {
      const bench = await open();
      const made = bench.make();
      const keyed = Array.from({ length: 20 }, () => bench.make({ idempotencyKey: 'once' }));
      const byId = await Promise.all(keyed.map(() => bench.store.insert([{ jobs: [made] }])));
      const byKey = await Promise.all(keyed.map((job) => bench.store.insert([{ jobs: [job] }])));
      const inserted = (answers: typeof byId) => answers.flat().filter(({ status }) => status === 'inserted');
      expect(inserted(byId)).toHaveLength(1);
      expect(inserted(byKey)).toHaveLength(1);
      expect(await bench.store.count({ tenant: '' }, { atMost: 100 })).toBe(2);
      expect(await bench.log()).toHaveLength(2);
    });

    it('an empty call changes nothing', async () => {
      const bench = await open();
      expect(await bench.store.insert([])).toEqual([]);
    });
  });
}
