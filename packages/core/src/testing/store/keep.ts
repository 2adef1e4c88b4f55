import { describe, expect, it } from 'vitest';
import { type Bench, COMPLETED, DEAD, FAILED, idsOf, type OpenBench } from './bench.ts';

const forget = (bench: Bench, queue = 'default') => bench.store.queues.setKeep('', queue, 'none');

export function testKeep(open: OpenBench): void {
  describe('queues that keep nothing', () => {
    it('a queue keeps everything until told otherwise', async () => {
      const bench = await open();
      await bench.add();
      expect(await bench.store.queues.list('')).toMatchObject([{ name: 'default', keep: 'all' }]);
      expect(await forget(bench)).toMatchObject({ name: 'default', keep: 'none', paused: false });
      expect(await bench.store.queues.list('')).toMatchObject([{ name: 'default', keep: 'none' }]);
      expect(await bench.store.queues.setKeep('', 'default', 'all')).toMatchObject({ keep: 'all' });
      expect(await bench.store.queues.setKeep('', 'unheard-of', 'all')).toMatchObject({ keep: 'all' });
      expect(await bench.store.queues.list('')).toHaveLength(1);
    });

    it('a completed job leaves neither a row nor events, but is counted', async () => {
      const bench = await open();
      await forget(bench);
      const jobs = await bench.addMany(3);
      const claimed = await bench.claim();
      expect(idsOf(claimed)).toEqual(idsOf(jobs));
      for (const job of claimed) expect(await bench.settle(job, COMPLETED)).toMatchObject({ status: 'applied' });
      expect(await bench.store.get(jobs)).toEqual([null, null, null]);
      expect((await bench.store.list({ filter: { tenant: '' }, limit: 10 })).items).toEqual([]);
      expect(await bench.log()).toEqual([]);
      const stats = await bench.store.queues.stats('', 'default', { atMost: 10 });
      expect(stats).toMatchObject({ completed: 3, active: 0, available: 0, keep: 'none' });
    });

    it('a job that does not complete is kept, with what went wrong', async () => {
      const bench = await open();
      await forget(bench);
      const [failed, dead] = [await bench.start(), await bench.start()];
      await bench.settle(failed, FAILED);
      await bench.settle(dead, DEAD);
      expect(await bench.read(failed)).toMatchObject({ state: 'retryable', errors: [{ code: 'boom' }] });
      expect(await bench.read(dead)).toMatchObject({ state: 'discarded', dead: true });
      const types = (await bench.eventsOf(failed)).map(({ type }) => type);
      expect(types).toContain('job.failed');
      expect((await bench.eventsOf(dead)).at(-1)).toMatchObject({ type: 'job.discarded' });
    });

    // fault: the same id is inserted again, for jobs that live, are dead or have ended
    it('guarantee 10: an id that is there already stays taken', async () => {
      const bench = await open();
      const kept = bench.make({ queue: 'kept' });
      const [ended] = await bench.insert(kept);
      const [claimed] = await bench.claim({ queues: ['kept'] });
      await bench.settle(claimed!, COMPLETED);
      await forget(bench);
      const dead = await bench.start();
      await bench.settle(dead, DEAD);
      const live = await bench.add();
      for (const { id } of [ended!, dead, live]) {
        const [answer] = await bench.store.insert([{ jobs: [bench.make({ id })] }]);
        expect(answer).toMatchObject({ status: 'exists', index: 0, job: { id } });
      }
      expect(await bench.read(dead)).toMatchObject({ state: 'discarded' });
    });

    it('its keys are free again', async () => {
      const bench = await open();
      await forget(bench);
      const made = () => bench.make({ idempotencyKey: 'idem', uniqueKey: 'u' });
      const insert = async () => {
        const [answer] = await bench.store.insert([{ jobs: [{ ...made(), unique: { key: 'u', owner: null } }] }]);
        return answer!.status;
      };
      expect(await insert()).toBe('inserted');
      expect(await insert()).not.toBe('inserted');
      const [job] = await bench.claim();
      await bench.settle(job!, COMPLETED);
      expect(await insert()).toBe('inserted');
    });

    it('a node of a workflow stays, since others wait for what it came to', async () => {
      const bench = await open();
      await forget(bench);
      const parent = bench.make({ workflowId: 'w' });
      const child = bench.make({ workflowId: 'w', state: 'pending' });
      const edges = [{ parent: parent.job.id, child: child.job.id }];
      await bench.store.insert([{ jobs: [parent, child], edges }]);
      const [claimed] = await bench.claim();
      await bench.settle(claimed!, COMPLETED);
      expect(await bench.read(parent.job)).toMatchObject({ state: 'completed', result: { ok: true } });
      expect(idsOf(await bench.advance(parent.job))).toEqual([child.job.id]);
    });

    it('a limit slot is given on', async () => {
      const bench = await open();
      await forget(bench);
      await bench.limit({ concurrency: 1 });
      const [first, second] = [await bench.add({ limitKey: 'k' }), await bench.add({ limitKey: 'k' })];
      const [claimed] = await bench.claim();
      expect(claimed!.id).toBe(first.id);
      await bench.settle(claimed!, COMPLETED);
      expect(idsOf(await bench.claim())).toEqual([second.id]);
      expect(await bench.store.limits.get('', 'k')).toMatchObject({ holders: 1, parked: 0 });
    });

    it('other queues and other tenants keep theirs', async () => {
      const bench = await open();
      await forget(bench);
      const [other, foreign] = [await bench.start({ queue: 'other' }), await bench.start({ tenant: 't' })];
      for (const job of [other, foreign]) {
        await bench.settle(job, COMPLETED);
        expect(await bench.read(job)).toMatchObject({ state: 'completed' });
        expect(await bench.eventsOf(job)).toHaveLength(3);
      }
    });
  });
}
