import { describe, expect, onTestFinished, test } from 'vitest';
import { engine } from '../engine.ts';
import { silentLogger } from '../logger.ts';
import type { Store } from '../store/store.ts';
import type { Waybill } from '../waybill.ts';
import { complete, fail, gateNode, leaseOf, rowsOf, started, until } from './gate-flows.ts';
import { severable } from './severed-store.ts';
import type { StoreFactory } from './store/bench.ts';

const CONFLICT = { code: 'conflict' };
/** Answers of the store that a resume takes at most, in the graph below. */
const LONGEST_RESUME = 40;

/** The store with another `list`; closing it leaves the store open. */
const listingBy = (store: Store, list: Store['list']): Store =>
  new Proxy(store, {
    get: (target, name) => {
      if (name === 'list') return list;
      if (name === 'close') return async () => {};
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });

/** What resuming some nodes of a workflow promises, on a store of its own for each test. */
export function testResume(name: string, factory: StoreFactory): void {
  const open = async () => {
    const made = await factory();
    onTestFinished(() => made.close());
    const server = (store = made.store): Waybill => {
      const waybill = engine({ store, logger: silentLogger, maintenance: false });
      onTestFinished(() => waybill.close());
      return waybill;
    };
    return { ...made, server };
  };

  /** Two branches that have failed, a node behind each, one behind both, and a branch that has completed. */
  const broken = async (waybill: Waybill): Promise<string> => {
    const nodes = [
      ...['left', 'right', 'other'].map((one) => gateNode(one)),
      gateNode('afterLeft', { after: ['left', 'other'] }),
      gateNode('last', { after: ['afterLeft'] }),
      gateNode('both', { after: ['left', 'right'] }),
    ];
    const { id } = await waybill.workflows.create({ nodes });
    const [left, right, other] = await started(waybill, 'left', 'right', 'other');
    await complete(waybill, other, 'o');
    await fail(waybill, left);
    await fail(waybill, right);
    await hasFailed(waybill, id);
    expect(await waybill.workflows.get(id)).toMatchObject({ failed: 2, cancelled: 3 });
    return id;
  };

  const hasFailed = (waybill: Waybill, id: string) =>
    until(async () => (await waybill.workflows.get(id)).state === 'failed');

  const statesOf = async (waybill: Waybill, id: string): Promise<Record<string, string>> =>
    Object.fromEntries([...(await rowsOf(waybill, id))].map(([node, { state }]) => [node, state]));

  describe(`resuming nodes of workflows on ${name}`, () => {
    test('only the named node runs again, and what waits for no other failed node', async () => {
      const waybill = (await open()).server();
      const id = await broken(waybill);
      expect(await waybill.workflows.resume(id, { nodes: ['left'] })).toMatchObject({ state: 'running', failed: 1 });
      expect(await statesOf(waybill, id)).toEqual({
        ...{ left: 'available', right: 'discarded', other: 'completed' },
        ...{ afterLeft: 'pending', last: 'pending', both: 'cancelled' },
      });
      await complete(waybill, await leaseOf(waybill, 'left'), 'l');
      const lease = await leaseOf(waybill, 'afterLeft');
      expect(lease.parentResults).toEqual(['l', 'o']);
      await complete(waybill, lease, 'a');
      await complete(waybill, await leaseOf(waybill, 'last'), 'z');
      await hasFailed(waybill, id);
      expect(await waybill.workflows.get(id)).toMatchObject({ completed: 4, failed: 1, cancelled: 1 });
      await waybill.workflows.resume(id, { nodes: ['right'] });
      await complete(waybill, await leaseOf(waybill, 'right'), 'r');
      await complete(waybill, await leaseOf(waybill, 'both'), 'b');
      expect(await waybill.workflows.get(id)).toMatchObject({ state: 'completed', completed: 6 });
    });

    test('several named nodes let start what waits for all of them', async () => {
      const waybill = (await open()).server();
      const id = await broken(waybill);
      await waybill.workflows.resume(id, { nodes: ['left', 'right', 'left'] });
      const [left, right] = await started(waybill, 'left', 'right');
      await complete(waybill, left, 'l');
      await complete(waybill, right, 'r');
      await started(waybill, 'afterLeft', 'both');
    });

    test('a node that has not failed is refused, and nothing is changed', async () => {
      const waybill = (await open()).server();
      const id = await broken(waybill);
      const before = await statesOf(waybill, id);
      const resume = (...nodes: string[]) => waybill.workflows.resume(id, { nodes });
      await expect(resume('left', 'other')).rejects.toMatchObject({ ...CONFLICT, details: { state: 'completed' } });
      await expect(resume('both')).rejects.toMatchObject({ ...CONFLICT, details: { state: 'cancelled' } });
      await expect(resume('lefd')).rejects.toMatchObject({
        code: 'not_found',
        message: expect.stringContaining("Did you mean 'left'?"),
      });
      await expect(resume()).rejects.toMatchObject({ code: 'invalid_request', details: { field: 'nodes' } });
      expect(await statesOf(waybill, id)).toEqual(before);
      expect(await waybill.workflows.get(id)).toMatchObject({ state: 'failed' });
    });

    test('a node of a workflow that still runs is run again, and the others go on', async () => {
      const waybill = (await open()).server();
      const nodes = [gateNode('left'), gateNode('right'), gateNode('end', { after: ['left', 'right'] })];
      const { id } = await waybill.workflows.create({ nodes });
      const [left, right] = await started(waybill, 'left', 'right');
      await fail(waybill, left);
      expect(await waybill.workflows.get(id)).toMatchObject({ state: 'running', partialFailure: true });
      await waybill.workflows.resume(id, { nodes: ['left'] });
      await complete(waybill, right, 'r');
      await complete(waybill, await leaseOf(waybill, 'left'), 'l');
      expect((await leaseOf(waybill, 'end')).parentResults).toEqual(['l', 'r']);
    });

    test('the iteration of a reviewed node that has failed is run again under the name of the node', async () => {
      const waybill = (await open()).server();
      const nodes = [gateNode('draft', { review: true }), gateNode('end', { after: ['draft'] })];
      const { id } = await waybill.workflows.create({ nodes });
      await fail(waybill, await leaseOf(waybill, 'draft[1]'));
      await hasFailed(waybill, id);
      await waybill.workflows.resume(id, { nodes: ['draft'] });
      await complete(waybill, await leaseOf(waybill, 'draft[1]'), 'text');
      await waybill.workflows.approve(id, 'draft');
      expect((await leaseOf(waybill, 'end')).parentResults).toEqual(['text']);
    });

    test('a workflow that ends while a node of it is resumed runs on', async () => {
      const made = await open();
      const waybill = made.server();
      const nodes = [gateNode('left'), gateNode('right'), gateNode('end', { after: ['left'] })];
      const { id } = await waybill.workflows.create({ nodes });
      const [left, right] = await started(waybill, 'left', 'right');
      await fail(waybill, left);
      let isFirst = true;
      const list: typeof made.store.list = async (query) => {
        const page = await made.store.list(query);
        if (isFirst) {
          isFirst = false;
          await complete(waybill, right, 'r');
          await hasFailed(waybill, id);
        }
        return page;
      };
      const slow = made.server(listingBy(made.store, list));
      expect(await slow.workflows.resume(id, { nodes: ['left'] })).toMatchObject({ state: 'running' });
      await complete(waybill, await leaseOf(waybill, 'left'), 'l');
      await complete(waybill, await leaseOf(waybill, 'end'), 'e');
      expect(await waybill.workflows.get(id)).toMatchObject({ state: 'completed' });
    });

    test('a call that breaks off anywhere is made good by a second one', async () => {
      const made = await open();
      const waybill = made.server();
      let isDone = false;
      for (let last = 1; !isDone; last += 3) {
        expect(last).toBeLessThan(LONGEST_RESUME);
        const id = await broken(waybill);
        let answers = 0;
        const way = severable(made.store, () => {
          answers += 1;
          if (answers >= last) way.sever();
        });
        const dying = made.server(way.store);
        isDone = await dying.workflows.resume(id, { nodes: ['left'] }).then(
          () => true,
          () => false,
        );
        way.mend();
        await waybill.workflows.resume(id, { nodes: ['left'] }).catch((error) => expect(error).toMatchObject(CONFLICT));
        await complete(waybill, await leaseOf(waybill, 'left'), 'l');
        await complete(waybill, await leaseOf(waybill, 'afterLeft'), 'a');
        await complete(waybill, await leaseOf(waybill, 'last'), 'z');
        await hasFailed(waybill, id);
        expect(await waybill.workflows.get(id)).toMatchObject({ completed: 4, cancelled: 1 });
      }
    });
  });
}
