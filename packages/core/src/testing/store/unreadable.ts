import { describe, expect, it } from 'vitest';
import { versionChange } from '../changes.ts';
import { type Bench, COMPLETED, DISCARDED, type OpenBench, sortedIds } from './bench.ts';
import { complete, plant } from './graph.ts';

const WHY = 'the store keeps no rows that could be damaged from outside';
/** Longer than any lease here. */
const HOUR_MS = 3_600_000;

/** Rows that were damaged by hand, or that a newer version wrote: they hide no others, wherever they come up. */
export function testUnreadable(open: OpenBench): void {
  describe('rows that cannot be read', () => {
    const damaged = async (skip: (why: string) => never): Promise<{ bench: Bench; bad: { id: string } }> => {
      const bench = await open();
      if (!bench.damage) return skip(WHY);
      const bad = await bench.add();
      await bench.damage.job(bad);
      return { bench, bad };
    };

    it('isolation: an unreadable row at the head of a queue is given to nobody, and holds up no other', async ({
      skip,
    }) => {
      const { bench, bad } = await damaged(skip);
      const good = await bench.addMany(3);
      let woken = 0;
      const stop = bench.store.onWake(() => {
        woken += 1;
      });
      const { claimsByRank = true } = bench.store.capabilities;
      const first = await bench.claim({ limit: 2 });
      // Whoever got fewer than it asked for would otherwise take the queue for used up.
      if (claimsByRank && first.length < 2) expect(woken).toBeGreaterThan(0);
      stop();
      const rest = claimsByRank ? await bench.claim() : [];
      if (claimsByRank) expect(sortedIds([...first, ...rest])).toEqual(sortedIds(good));
      const byId = await bench.store.claimById(bench.requestById(good.map(({ id }) => id)));
      const given = [...first, ...rest, ...byId.flatMap((one) => (one.status === 'claimed' ? [one.job] : []))];
      expect(sortedIds(given)).toEqual(sortedIds(good));
      expect(given.map(({ id }) => id)).not.toContain(bad.id);
    });

    it('isolation: one that is claimed by its id is named as held, and the others are given', async ({ skip }) => {
      const { bench, bad } = await damaged(skip);
      const good = await bench.add();
      const answers = await bench.store.claimById(bench.requestById([bad.id, good.id]));
      expect(answers).toMatchObject([{ status: 'held' }, { status: 'claimed', job: { id: good.id } }]);
    });

    it('isolation: a claim that is repeated answers the rest of what it holds', async ({ skip }) => {
      const { bench } = await damaged(skip);
      const good = await bench.add();
      const request = bench.requestById([good.id]);
      await bench.store.claimById(request);
      const late = await bench.add();
      const next = bench.requestById([late.id], { claimId: request.claimId });
      await bench.store.claimById(next);
      await bench.damage!.job(late);
      const answers = await bench.store.claimById({ ...request, ids: [good.id, late.id] });
      expect(answers).toMatchObject([{ status: 'claimed', job: { id: good.id } }, { status: 'held' }]);
    });

    it('isolation: once its lease ran out, the sweep names it', async ({ skip }) => {
      const { bench, bad } = await damaged(skip);
      await bench.claim();
      await bench.store.claimById(bench.requestById([bad.id]));
      await bench.clock.advance(HOUR_MS);
      const { jobs, unreadable } = await bench.store.due({ now: bench.now, limit: 9 });
      expect(jobs).toEqual([]);
      expect(unreadable).toMatchObject([{ kind: 'job', tenant: '', id: bad.id }]);
    });

    it('isolation: one that waits for a slot gets it in its turn, and fails no call of another job', async ({
      skip,
    }) => {
      const bench = await open();
      if (!bench.damage) return skip(WHY);
      await bench.limit({ concurrency: 1 });
      const first = await bench.start({ limitKey: 'k' });
      const bad = await bench.add({ limitKey: 'k' });
      const last = await bench.add({ limitKey: 'k' });
      await bench.damage.job(bad);
      expect(await bench.settle(first, COMPLETED)).toMatchObject({ status: 'applied' });
      await bench.limit({ concurrency: 2 });
      const answers = await bench.store.claimById(bench.requestById([bad.id, last.id]));
      expect(answers).toMatchObject([{ status: 'held' }, { status: 'claimed', job: { id: last.id } }]);
    });

    it('isolation: a node that cannot be read keeps its siblings from nothing', async ({ skip }) => {
      const bench = await open();
      if (!bench.damage) return skip(WHY);
      const node = await plant(bench, { a: [], f: [], b: ['a'], c: ['a'], d: ['f'], e: ['f'] });
      await bench.damage.job(node('b'));
      await bench.damage.job(node('d'));
      await complete(bench, node('a'));
      const met = await bench.store.workflows.meet({ tenant: '', ids: [node('a').id] });
      expect(sortedIds(met)).toEqual(sortedIds([node('b'), node('c')]));
      await complete(bench, node('f'), DISCARDED);
      const waiting = await bench.store.workflows.waiting({ tenant: '', ids: [node('f').id] });
      expect(sortedIds(waiting)).toEqual(sortedIds([node('d'), node('e')]));
      for (const job of met) {
        const [answer] = await bench.store.apply([versionChange(job, { do: 'activate' }, bench.now)!]);
        expect(answer).toMatchObject({ status: 'applied' });
      }
      const claimed = await bench.store.claimById(bench.requestById([node('b').id, node('c').id]));
      expect(claimed).toMatchObject([{ status: 'held' }, { status: 'claimed', job: { id: node('c').id } }]);
    });

    it('isolation: a list names it and shows the others', async ({ skip }) => {
      const { bench, bad } = await damaged(skip);
      const good = await bench.addMany(2);
      const { items, unreadable } = await bench.store.list({ filter: { tenant: '' }, limit: 9 });
      expect(sortedIds(items)).toEqual(sortedIds(good));
      expect(unreadable).toEqual([bad.id]);
      const [newest, ...others] = [...items];
      const page = await bench.store.list({ filter: { tenant: '' }, limit: 2 });
      expect(page.items).toEqual([newest, ...others]);
      const last = await bench.store.list({ filter: { tenant: '' }, limit: 2, cursor: page.cursor! });
      expect(last).toMatchObject({ items: [], unreadable: [bad.id] });
    });

    it('isolation: asking for it by its id says what is wrong', async ({ skip }) => {
      const { bench, bad } = await damaged(skip);
      const refusal = bench.find({ tenant: '', id: bad.id });
      await expect(refusal).rejects.toThrow(`The row of the job ${bad.id} cannot be read`);
    });
  });
}
