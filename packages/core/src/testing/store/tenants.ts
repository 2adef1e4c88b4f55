import { describe, expect, it } from 'vitest';
import { SYSTEM_TENANT } from '../../store/records.ts';
import { settleChange, versionChange } from '../changes.ts';
import { aCron, aWorkflow, type JobOverrides } from '../factories.ts';
import { type Bench, COMPLETED, idsOf, type OpenBench, sortedIds } from './bench.ts';

/** The same job, down to its id and key, of two tenants. */
async function twins(bench: Bench, overrides: JobOverrides = {}) {
  const { id } = bench.make().job;
  const a = await bench.add({ id, idempotencyKey: 'key', ...overrides, tenant: 'a' });
  const b = await bench.add({ id, idempotencyKey: 'key', ...overrides, tenant: 'b' });
  return { id, a, b };
}

export function testTenants(open: OpenBench): void {
  describe('tenants', () => {
    it('insert, get: ids and idempotency keys belong to their tenant', async () => {
      const bench = await open();
      const { id, a, b } = await twins(bench);
      expect(await bench.store.get(['a', 'b', 'c'].map((tenant) => ({ tenant, id })))).toEqual([a, b, null]);
    });

    it('list, count: show one tenant', async () => {
      const bench = await open();
      const { a } = await twins(bench);
      await bench.addMany(3, { tenant: 'b' });
      expect(await bench.store.list({ filter: { tenant: 'a' }, limit: 10 })).toEqual({ items: [a] });
      expect(await bench.store.count({ tenant: 'a' }, { atMost: 10 })).toBe(1);
      expect(await bench.store.count({ tenant: '' }, { atMost: 10 })).toBe(0);
    });

    it('claim: takes from one tenant, and claim ids are each tenant’s own', async () => {
      const bench = await open();
      const { a, b } = await twins(bench);
      expect(await bench.claim({ tenant: '' })).toEqual([]);
      const [mine] = await bench.claim({ tenant: 'a', claimId: 'same' });
      expect(mine).toMatchObject({ tenant: 'a', id: a.id });
      expect(await bench.read(b)).toEqual(b);
      const [theirs] = await bench.claim({ tenant: 'b', claimId: 'same' });
      expect(theirs).toMatchObject({ tenant: 'b', id: b.id });
    });

    it('claim: the jobs of one tenant stand before nobody else’s', async () => {
      const bench = await open();
      await bench.addMany(3, { tenant: 'b', priority: 9 });
      const mine = await bench.addMany(2, { tenant: 'a' });
      expect(sortedIds(await bench.claim({ tenant: 'a', limit: 2 }))).toEqual(sortedIds(mine));
      expect(await bench.claim({ tenant: 'b' })).toHaveLength(3);
    });

    it('claimById: a job of another tenant is unknown', async () => {
      const bench = await open();
      const { id, b } = await twins(bench);
      const [none] = await bench.store.claimById(bench.requestById([id], { tenant: 'c' }));
      expect(none).toEqual({ status: 'unknown' });
      const [mine] = await bench.store.claimById(bench.requestById([id], { tenant: 'a' }));
      expect(mine).toMatchObject({ status: 'claimed', job: { tenant: 'a' } });
      expect(await bench.read(b)).toEqual(b);
    });

    // fault: a token of another tenant, for the same job id
    it('apply, extend: guarantee 3 holds between tenants too', async () => {
      const bench = await open();
      const { id, b } = await twins(bench);
      const [answer] = await bench.store.claimById(bench.requestById([id], { tenant: 'a' }));
      const mine = answer!.status === 'claimed' ? answer!.job : b;
      const foreign = { ...mine, tenant: 'b' };
      const changes = [
        settleChange(foreign, COMPLETED, bench.now),
        versionChange(foreign, { do: 'cancel' }, bench.now)!,
      ];
      expect(await bench.store.apply(changes)).toEqual([{ status: 'lost' }, { status: 'lost' }]);
      const beat = { id, leaseMs: null, now: bench.now };
      const by = { run: mine.run, claimId: mine.claimId! };
      expect(await bench.store.extend([{ tenant: 'b', by, ...beat }])).toEqual([{ status: 'lost' }]);
      expect(await bench.store.extend([{ tenant: 'b', by: 'anyone', ...beat }])).toEqual([{ status: 'lost' }]);
      expect(await bench.settle(mine, COMPLETED)).toMatchObject({ status: 'applied' });
      expect(await bench.read(b)).toEqual(b);
    });

    it('due, prune: see all tenants and keep them apart', async ({ skip }) => {
      const bench = await open();
      const { a, b } = await twins(bench, { scheduledAt: bench.now + 1000 });
      await bench.clock.advance(1000);
      const { jobs } = await bench.store.due({ now: bench.now, limit: 10 });
      expect(jobs.map((job) => job.tenant).sort()).toEqual(['a', 'b']);
      if (bench.store.capabilities.prunesItself) skip('the store removes what is old in its own time');
      await bench.command(a, { do: 'cancel' });
      await bench.outlive();
      await bench.store.prune({ finishedBefore: bench.now, deadBefore: 0, eventsBefore: 0, limit: 10 });
      expect([await bench.find(a), await bench.find(b)]).toEqual([null, b]);
    });

    it('events: a filter by tenant shows no other, though the job has the same id', async () => {
      const bench = await open();
      const { id, a } = await twins(bench);
      await bench.command(a, { do: 'cancel' });
      const theirs = await bench.log({ tenant: 'b', jobIds: [id] });
      expect(theirs.map((event) => [event.tenant, event.type])).toEqual([['b', 'job.enqueued']]);
      expect(await bench.log()).toHaveLength(3);
    });

    it('queues: a pause stops one tenant', async () => {
      const bench = await open();
      const { b } = await twins(bench);
      await bench.store.queues.setPaused('a', 'default', true);
      expect(await bench.store.queues.list('b')).toEqual([
        { tenant: 'b', name: 'default', paused: false, keep: 'all', limit: null },
      ]);
      expect(await bench.store.queues.list('')).toEqual([]);
      expect(await bench.claim({ tenant: 'a' })).toEqual([]);
      expect(idsOf(await bench.claim({ tenant: 'b' }))).toEqual([b.id]);
    });

    // fault: two tenants use the same names
    it('limits: guarantee 7 counts each tenant apart', async () => {
      const bench = await open();
      await bench.limit({ concurrency: 1 }, { tenant: 'a' });
      await bench.limit({ concurrency: 2 }, { tenant: 'b' });
      for (const tenant of ['a', 'b']) await bench.addMany(3, { tenant, limitKey: 'k' });
      const [mine] = await bench.claim({ tenant: 'a' });
      expect(await bench.claim({ tenant: 'b' })).toHaveLength(2);
      await bench.settle(mine!, COMPLETED);
      expect(await bench.store.limits.get('a', 'k')).toMatchObject({ rule: { concurrency: 1 }, holders: 1, parked: 1 });
      expect(await bench.store.limits.get('b', 'k')).toMatchObject({ rule: { concurrency: 2 }, holders: 2, parked: 1 });
      expect(await bench.store.limits.get('', 'k')).toBeNull();
    });

    // fault: two tenants use the same names
    it('workflows: guarantee 8 follows the edges of one tenant', async () => {
      const bench = await open();
      const [parentId, childId] = [bench.make().job.id, bench.make().job.id];
      for (const tenant of ['a', 'b']) {
        const parent = bench.make({ tenant, id: parentId, workflowId: 'f', node: 'p' });
        const child = bench.make({ tenant, id: childId, workflowId: 'f', node: 'c', state: 'pending' });
        await bench.store.insert([{ jobs: [parent, child], edges: [{ parent: parentId, child: childId }] }]);
      }
      const [mine] = await bench.claim({ tenant: 'a' });
      await bench.settle(mine!, COMPLETED);
      expect(await bench.advance({ tenant: 'b', id: parentId })).toEqual([]);
      const dispatched = await bench.advance({ tenant: 'a', id: parentId });
      expect(dispatched.map((job) => [job.tenant, job.id])).toEqual([['a', childId]]);
      expect((await bench.read({ tenant: 'b', id: childId })).state).toBe('pending');
    });

    it('workflows, crons: names and ids belong to their tenant', async () => {
      const bench = await open();
      const { store } = bench;
      for (const tenant of ['a', 'b']) {
        await store.insert([{ jobs: [bench.make({ tenant })], workflow: { create: aWorkflow({ tenant, total: 1 }) } }]);
        await store.crons.put(aCron({ tenant, description: tenant }));
      }
      const move = { id: 'flow', from: 'running', to: 'failed', now: bench.now, jobs: [] } as const;
      expect(await store.workflows.move({ tenant: 'a', ...move })).toMatchObject({ status: 'moved' });
      expect(await store.workflows.get('b', 'flow')).toMatchObject({ tenant: 'b', state: 'running' });
      expect((await store.workflows.list({ tenant: 'b', limit: 9 })).items).toMatchObject([{ tenant: 'b' }]);
      expect(await store.crons.remove('a', 'every-minute')).toMatchObject({ description: 'a' });
      expect(await store.crons.list('b')).toMatchObject([{ description: 'b' }]);
      expect(await store.crons.get('', 'every-minute')).toBeNull();
    });

    // fault: two tenants use the same names
    it('unique keys: guarantee 7 holds within a tenant', async () => {
      const bench = await open();
      for (const tenant of ['a', 'b']) {
        const made = bench.make({ tenant, uniqueKey: 'u' });
        await bench.insert({ ...made, unique: { key: 'u', owner: null } });
      }
      expect(await bench.claim({ tenant: 'a' })).toHaveLength(1);
      expect(await bench.claim({ tenant: 'b' })).toHaveLength(1);
    });

    it('records: each tenant sees, replaces and removes its own; nobody sees those of the system', async () => {
      const bench = await open();
      const { records } = bench.store;
      const tenants = ['', 'a', 'a#note', SYSTEM_TENANT];
      const key = (tenant: string) => ({ tenant, kind: 'note', id: 'n' });
      const answers = await records.put(tenants.map((tenant) => ({ ...key(tenant), value: { tenant }, expected: 0 })));
      expect(answers.map(({ status }) => status)).toEqual(tenants.map(() => 'stored'));
      expect(await records.get(tenants.map(key))).toMatchObject(tenants.map((tenant) => ({ value: { tenant } })));
      for (const tenant of tenants) {
        const { items } = await records.list({ tenant, kind: 'note', limit: 9 });
        expect(items).toMatchObject([{ tenant, value: { tenant } }]);
      }
      expect(await records.get([key('b')])).toEqual([null]);
      expect(await records.remove(key('b'))).toEqual({ status: 'absent' });
      expect(await records.remove(key('a'))).toEqual({ status: 'removed' });
      const left = await records.get(tenants.map(key));
      expect(left.map((record) => record?.tenant)).toEqual(['', undefined, 'a#note', SYSTEM_TENANT]);
    });

    it('workers: each tenant sees and directs its own', async () => {
      const bench = await open();
      const beat = (tenant: string) => bench.store.workers.beat({ tenant, id: 'w', activeJobs: 0, now: bench.now });
      await beat('a');
      expect(await bench.store.workers.direct('b', 'w', 'quiet')).toBeNull();
      await beat('b');
      await bench.store.workers.direct('b', 'w', 'terminate');
      expect([await beat('a'), await beat('b')]).toEqual(['running', 'terminate']);
      expect(await bench.store.workers.list('a')).toMatchObject([{ tenant: 'a', directive: 'running' }]);
    });
  });
}
