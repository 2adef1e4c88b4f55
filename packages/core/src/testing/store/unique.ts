import { describe, expect, it } from 'vitest';
import type { Job } from '../../job/job.ts';
import type { InsertAnswer, NewJob, UniqueClaim } from '../../store/insert.ts';
import { versionChange } from '../changes.ts';
import { type Bench, COMPLETED, DEAD, idsOf, type OpenBench } from './bench.ts';

/** A new job that wants the key `u`, expecting the given owner. */
function wanting(bench: Bench, owner: Job | null = null, more: Partial<UniqueClaim> = {}): NewJob {
  const expected = owner && { id: owner.id, version: owner.version };
  return { ...bench.make({ uniqueKey: 'u' }), unique: { key: 'u', owner: expected, ...more } };
}

async function insert(bench: Bench, ...jobs: NewJob[]): Promise<InsertAnswer> {
  const [answer] = await bench.store.insert([{ jobs }]);
  return answer!;
}

const cancelOf = (bench: Bench, job: Job) => versionChange(job, { do: 'cancel' }, bench.now)!;

export function testUnique(open: OpenBench): void {
  describe('unique keys', () => {
    // fault: none, the rule itself
    it('guarantee 7: a free key is taken by the first and answers its row to the next', async () => {
      const bench = await open();
      const [first] = await bench.insert(wanting(bench));
      expect(first!.uniqueKey).toBe('u');
      const second = wanting(bench);
      expect(await insert(bench, second)).toEqual({ status: 'taken', index: 0, job: first });
      expect(await bench.find(second.job)).toBeNull();
      expect(await bench.log()).toHaveLength(1);
    });

    // fault: twenty calls at once
    it('guarantee 7: of twenty concurrent inserts one gets the key', async () => {
      const bench = await open();
      const answers = await Promise.all(Array.from({ length: 20 }, () => insert(bench, wanting(bench))));
      const inserted = answers.filter(({ status }) => status === 'inserted');
      expect(inserted).toHaveLength(1);
      const [owner] = await bench.claim();
      for (const answer of answers) {
        if (answer.status !== 'inserted') expect(answer).toMatchObject({ status: 'taken', job: { id: owner!.id } });
      }
      expect(await bench.claim()).toEqual([]);
    });

    // fault: none, the rule itself
    it('guarantee 7: the key is never released, not even by an end', async () => {
      const bench = await open();
      const [first] = await bench.insert(wanting(bench));
      const [running] = await bench.claim();
      await bench.settle(running!, COMPLETED);
      const done = await bench.read(first!);
      expect(await insert(bench, wanting(bench))).toEqual({ status: 'taken', index: 0, job: done });
    });

    // fault: the caller has read an older row of the owner
    it('guarantee 7: whoever saw the owner as it still is follows it; whoever saw an older one does not', async () => {
      const bench = await open();
      const [first] = await bench.insert(wanting(bench));
      const [running] = await bench.claim();
      expect(await insert(bench, wanting(bench, first!))).toEqual({ status: 'taken', index: 0, job: running });
      await bench.settle(running!, COMPLETED);
      const done = await bench.read(first!);
      const next = wanting(bench, done);
      expect(await insert(bench, next)).toEqual({ status: 'inserted', jobs: [next.job], admitted: [] });
      expect(await insert(bench, wanting(bench, done))).toEqual({ status: 'taken', index: 0, job: next.job });
      expect(await bench.read(first!)).toEqual(done);
    });

    // fault: twenty calls at once
    it('guarantee 7: of twenty who follow the same owner at once, one does', async () => {
      const bench = await open();
      const [first] = await bench.insert(wanting(bench));
      await bench.command(first!, { do: 'cancel' });
      const done = await bench.read(first!);
      const answers = await Promise.all(Array.from({ length: 20 }, () => insert(bench, wanting(bench, done))));
      expect(answers.filter(({ status }) => status === 'inserted')).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 'taken')).toHaveLength(19);
    });

    // fault: none, the rule itself
    it('guarantee 7: an owner is replaced in the step in which its successor comes', async () => {
      const bench = await open();
      const [first] = await bench.insert(wanting(bench));
      const replace = cancelOf(bench, first!);
      const next = wanting(bench, first!, { replace });
      expect(await insert(bench, next)).toEqual({ status: 'inserted', jobs: [next.job], admitted: [] });
      expect(await bench.read(first!)).toEqual(replace.job);
      expect((await bench.eventsOf(first!)).slice(1)).toEqual(replace.events);
      expect((await bench.claim()).map((job) => job.id)).toEqual([next.job.id]);
    });

    // fault: another write comes between reading the row and writing it
    it('guarantee 7: a replacement that is lost leaves both as they were', async () => {
      const bench = await open();
      const [first] = await bench.insert(wanting(bench));
      const running = (await bench.claim())[0]!;
      const replace = cancelOf(bench, running);
      const beat = { tenant: '', id: first!.id, by: 'anyone', leaseMs: 90_000, now: bench.now } as const;
      await bench.store.extend([beat]);
      const next = wanting(bench, running, { replace });
      expect(await insert(bench, next)).toEqual({ status: 'taken', index: 0, job: await bench.read(first!) });
      expect(await bench.read(first!)).toMatchObject({ state: 'active' });
      expect(await bench.find(next.job)).toBeNull();
    });

    it('a group is all or nothing when the key of one of its jobs is taken', async () => {
      const bench = await open();
      const [first] = await bench.insert(wanting(bench));
      const [other] = await bench.insert({ ...bench.make(), unique: { key: 'v', owner: null } });
      const replace = cancelOf(bench, other!);
      const seen = { id: other!.id, version: other!.version };
      const replacing = { ...bench.make(), unique: { key: 'v', owner: seen, replace } };
      expect(await insert(bench, replacing, wanting(bench))).toEqual({ status: 'taken', index: 1, job: first });
      expect(await bench.read(other!)).toEqual(other);
      expect(await insert(bench, bench.make(), replacing)).toMatchObject({ status: 'inserted' });
    });

    it('A13: every key of a group that is taken is answered at once, and nothing is stored', async () => {
      const bench = await open();
      const keyed = (key: string, owner: Job | null = null): NewJob => ({
        ...bench.make({ uniqueKey: key }),
        unique: { key, owner: owner && { id: owner.id, version: owner.version } },
      });
      const [a, b, c] = (await Promise.all(['a', 'b', 'c'].map((key) => bench.insert(keyed(key))))).flat();
      const made = [keyed('free'), keyed('a'), bench.make(), keyed('b'), keyed('c', c), keyed('a'), keyed('free')];
      expect(await insert(bench, ...made)).toEqual({
        ...{ status: 'taken', index: 1, job: a },
        others: [
          { index: 3, job: b },
          { index: 5, job: a },
        ],
      });
      const found = await bench.store.get(made.map(({ job }) => job));
      expect(found).toEqual(made.map(() => null));
      expect(await insert(bench, keyed('c', c))).toMatchObject({ status: 'inserted' });
    });

    // fault: two jobs with one key come in one call
    it('guarantee 7: groups of one call follow each other', async () => {
      const bench = await open();
      const [a, b] = [wanting(bench), wanting(bench)];
      const answers = await bench.store.insert([{ jobs: [a] }, { jobs: [b] }]);
      expect(answers).toEqual([
        { status: 'inserted', jobs: [a.job], admitted: [] },
        { status: 'taken', index: 0, job: a.job },
      ]);
    });

    it('an owner whose row is gone counts as nobody, also for one who has seen it', async ({ skip }) => {
      const bench = await open();
      if (bench.store.capabilities.prunesItself) skip('the store removes what is old in its own time');
      const gone: Job[] = [];
      for (const owner of [null, 'seen'] as const) {
        const [job] = await bench.insert(wanting(bench, owner === null ? null : gone[0]!));
        await bench.command(job!, { do: 'cancel' });
        gone[0] = await bench.read(job!);
        await bench.outlive();
        await bench.store.prune({ finishedBefore: bench.now, deadBefore: 0, eventsBefore: 0, limit: 9 });
      }
      expect(await insert(bench, wanting(bench))).toMatchObject({ status: 'inserted' });
    });

    // fault: the row is older than the retention while the period of its key still runs
    it.each(['all', 'none'] as const)(
      'A16: guarantee 7: a finished job is kept, and with it the key, until its period is over, in a queue that keeps %s',
      async (keep) => {
        const bench = await open();
        await bench.store.queues.setKeep('', 'default', keep);
        const rule = { period: 'P100D', states: ['available', 'active', 'completed'] };
        const spec = { args: [], meta: {}, options: { unique: rule } };
        const made = { ...bench.make({ uniqueKey: 'u', spec }), unique: { key: 'u', owner: null } };
        await bench.insert(made);
        const [running] = await bench.claim();
        await bench.settle(running!, COMPLETED);
        const prune = () =>
          bench.store.prune({ finishedBefore: bench.now, deadBefore: bench.now, eventsBefore: 0, limit: 9 });
        await bench.clock.advance(90 * 86_400_000);
        await prune();
        const done = await bench.read(made.job);
        expect(done).toMatchObject({ state: 'completed', nextAt: made.job.createdAt + 100 * 86_400_000 });
        expect(await insert(bench, wanting(bench))).toEqual({ status: 'taken', index: 0, job: done });
        await bench.clock.set(done.nextAt!);
        expect(idsOf((await bench.store.due({ now: bench.now, limit: 9 })).jobs)).toEqual([done.id]);
        expect(await bench.store.apply([versionChange(done, { do: 'tick' }, bench.now)!])).toMatchObject([
          { status: 'applied' },
        ]);
        expect((await bench.store.due({ now: bench.now, limit: 9 })).jobs).toEqual([]);
        await bench.clock.advance(90 * 86_400_000);
        await prune();
        expect(await bench.find(made.job)).toBeNull();
        expect(await insert(bench, wanting(bench))).toMatchObject({ status: 'inserted' });
      },
    );

    // fault: a successor takes the key before the replay
    it('guarantee 7: a job comes back to life only while its key is its own', async () => {
      const bench = await open();
      const [first] = await bench.insert(wanting(bench));
      const [running] = await bench.claim();
      await bench.settle(running!, DEAD);
      const dead = await bench.read(first!);
      const replay = versionChange(dead, { do: 'replay' }, bench.now)!;
      expect(replay.ownsKey).toBe(true);
      await bench.insert(wanting(bench, dead));
      expect(await bench.store.apply([replay])).toEqual([{ status: 'lost' }]);
      expect(await bench.read(first!)).toEqual(dead);
    });

    // fault: two calls at once
    it('guarantee 7: a replay and a successor at once: one of them', async () => {
      const bench = await open();
      const [first] = await bench.insert(wanting(bench));
      const [running] = await bench.claim();
      await bench.settle(running!, DEAD);
      const dead = await bench.read(first!);
      const replay = versionChange(dead, { do: 'replay' }, bench.now)!;
      const [[replayed], followed] = await Promise.all([
        bench.store.apply([replay]),
        insert(bench, wanting(bench, dead)),
      ]);
      const outcome = [replayed!.status, followed.status];
      expect([
        ['applied', 'taken'],
        ['lost', 'inserted'],
      ]).toContainEqual(outcome);
      expect(await bench.claim()).toHaveLength(1);
    });

    it('a job without a key comes back to life in any case', async () => {
      const bench = await open();
      const job = await bench.start();
      await bench.settle(job, DEAD);
      const replay = versionChange(await bench.read(job), { do: 'replay' }, bench.now)!;
      expect(await bench.store.apply([{ ...replay, ownsKey: true }])).toMatchObject([{ status: 'applied' }]);
    });
  });
}
