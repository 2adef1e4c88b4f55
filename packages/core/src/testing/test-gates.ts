import { describe, expect, onTestFinished, test } from 'vitest';
import { engine } from '../engine.ts';
import { silentLogger } from '../logger.ts';
import type { Waybill } from '../waybill.ts';
import { complete, fail, gateNode, leaseOf, leasesOf, rowsOf, started, until } from './gate-flows.ts';
import { severable } from './severed-store.ts';
import type { StoreFactory } from './store/bench.ts';

const CONFLICT = { code: 'conflict' };
const LONGEST_SEQUENCE = 16;

/** What signals and reviews of workflows promise, on a store of its own for each test. */
export function testGates(name: string, factory: StoreFactory, { servers: fleet = 6 } = {}): void {
  const open = async () => {
    const made = await factory();
    onTestFinished(() => made.close());
    const server = ({ maintenance = false } = {}) => {
      const answers = { seen: 0, last: Number.POSITIVE_INFINITY };
      const way = severable(made.store, () => {
        answers.seen += 1;
        if (answers.seen >= answers.last) way.sever();
      });
      const waybill = engine({ store: way.store, logger: silentLogger, maintenance });
      onTestFinished(async () => {
        way.mend();
        await waybill.close();
      });
      /** From now on it gets so many answers of the store, and is dead then. */
      const dieAfter = (more: number) => {
        answers.last = answers.seen + more;
      };
      return { waybill, dieAfter };
    };
    return { ...made, server };
  };

  const reviewed = async (waybill: Waybill, review: unknown = true) => {
    const nodes = [
      gateNode('plan'),
      gateNode('draft', { after: ['plan'], review }),
      gateNode('end', { after: ['draft'] }),
    ];
    const { id } = await waybill.workflows.create({ nodes });
    await complete(waybill, await leaseOf(waybill, 'plan'), 'the plan');
    return id;
  };

  const inReview = async (waybill: Waybill, review: unknown = true) => {
    const id = await reviewed(waybill, review);
    await complete(waybill, await leaseOf(waybill, 'draft[1]'), 'first');
    return id;
  };

  const typesOf = async (waybill: Waybill, types: string[]) =>
    (await waybill.events.read({ limit: 1_000, filter: { types: types as never } })).events.map(({ type }) => type);

  describe(`gates of workflows on ${name}`, () => {
    test('a node waits for its signal, and gets its data as the result of a parent', async () => {
      const { waybill } = (await open()).server();
      const nodes = [
        gateNode('order'),
        gateNode('paid', { signal: true }),
        gateNode('ship', { after: ['order', 'paid'] }),
      ];
      const { id } = await waybill.workflows.create({ nodes });
      await complete(waybill, await leaseOf(waybill, 'order'), 1);
      expect([...(await leasesOf(waybill)).keys()]).toEqual([]);
      expect((await rowsOf(waybill, id)).get('paid')).toMatchObject({
        state: 'pending',
        waiting: { for: 'signal', until: null },
      });
      await waybill.workflows.signal(id, 'paid', { amount: 5 }, { by: 'bank' });
      const lease = await leaseOf(waybill, 'ship');
      expect(lease.parentResults).toEqual([1, { amount: 5 }]);
      await complete(waybill, lease, 'sent');
      expect(await waybill.workflows.get(id)).toMatchObject({ state: 'completed', total: 3, completed: 3 });
      const { events } = await waybill.events.read({ limit: 100, filter: { types: ['job.signalled'] } });
      expect(events).toMatchObject([{ data: { signal: 'paid', sent_by: 'bank' } }]);
    });

    test('a signal that comes before its turn is kept', async () => {
      const { waybill } = (await open()).server();
      const nodes = [
        gateNode('order'),
        gateNode('paid', { after: ['order'], signal: true }),
        gateNode('ship', { after: ['paid'] }),
      ];
      const { id } = await waybill.workflows.create({ nodes });
      await waybill.workflows.signal(id, 'paid', null);
      expect((await rowsOf(waybill, id)).get('paid')).toMatchObject({ state: 'pending', result: null });
      expect([...(await leasesOf(waybill)).keys()]).toEqual(['order']);
      const { items } = await waybill.jobs.list({ filter: { tenant: '', states: ['active'] } });
      expect(items).toHaveLength(1);
      const again = await waybill.workflows.signal(id, 'paid', null);
      expect(again.state).toBe('running');
      await expect(waybill.workflows.signal(id, 'paid', 1)).rejects.toMatchObject(CONFLICT);
    });

    test('the first signal counts; with equal data it may come again, also when its node has completed', async () => {
      const { waybill } = (await open()).server();
      const { id } = await waybill.workflows.create({
        nodes: [gateNode('paid', { signal: true }), gateNode('last', { after: ['paid'] })],
      });
      await waybill.workflows.signal(id, 'paid', { a: 1, b: [2] });
      await waybill.workflows.signal(id, 'paid', { b: [2], a: 1 });
      await expect(waybill.workflows.signal(id, 'paid', { a: 2 })).rejects.toMatchObject(CONFLICT);
      expect((await rowsOf(waybill, id)).get('paid')).toMatchObject({ state: 'completed', result: { a: 1, b: [2] } });
      expect(await typesOf(waybill, ['job.signalled'])).toHaveLength(1);
    });

    test('a name that no node waits for is refused with the one that was meant', async () => {
      const { waybill } = (await open()).server();
      const { id } = await waybill.workflows.create({
        nodes: [gateNode('paid', { signal: true }), gateNode('draft', { review: true })],
      });
      const missing = { code: 'not_found' };
      await expect(waybill.workflows.signal(id, 'payd', 1)).rejects.toMatchObject({
        ...missing,
        message: expect.stringContaining("Did you mean 'paid'?"),
      });
      await expect(waybill.workflows.approve(id, 'draft[1]')).rejects.toMatchObject({
        ...missing,
        message: expect.stringContaining("Did you mean 'draft'?"),
      });
      await expect(waybill.workflows.approve(id, 'paid')).rejects.toMatchObject(missing);
      await expect(waybill.workflows.signal(id, 'draft', 1)).rejects.toMatchObject(missing);
      const bad = { code: 'invalid_request' };
      await expect(waybill.workflows.requestRevision(id, 'draft', { feedback: '' })).rejects.toMatchObject(bad);
      await expect(waybill.workflows.requestRevision(id, 'draft', { feedback: ' \n' })).rejects.toMatchObject(bad);
      await expect(
        waybill.workflows.requestRevision(id, 'draft', { feedback: 'x'.repeat(5_001) }),
      ).rejects.toMatchObject(bad);
      await expect(waybill.workflows.requestRevision(id, 'draft', { feedbak: 'x' } as never)).rejects.toThrow(
        "Did you mean 'feedback'?",
      );
    });

    test('no worker gets a gate, and no call starts one', async () => {
      const { waybill } = (await open()).server();
      const id = await inReview(waybill);
      const { id: other } = await waybill.workflows.create({ nodes: [gateNode('paid', { signal: true })] });
      const gates = [(await rowsOf(waybill, id)).get('draft')!, (await rowsOf(waybill, other)).get('paid')!];
      for (const gate of gates) await expect(waybill.jobs.activate(gate.id)).rejects.toMatchObject(CONFLICT);
      expect(await leasesOf(waybill)).toEqual(new Map());
    });

    test('what stands behind a reviewed node waits for the approval, and gets its output', async () => {
      const { waybill } = (await open()).server();
      const id = await reviewed(waybill);
      await expect(waybill.workflows.approve(id, 'draft')).rejects.toMatchObject(CONFLICT);
      const first = await leaseOf(waybill, 'draft[1]');
      expect(first).toMatchObject({ parentResults: ['the plan'], job: { spec: { args: ['draft'] } } });
      expect(first.revision).toBeUndefined();
      await complete(waybill, first, { text: 'first' });
      expect(await leasesOf(waybill)).toEqual(new Map());
      expect((await rowsOf(waybill, id)).get('draft')).toMatchObject({
        ...{
          state: 'pending',
          result: null,
          dependsOn: ['draft[1]'],
          waiting: { for: 'review', until: null, iteration: 1 },
        },
      });
      const info = await waybill.workflows.approve(id, 'draft', { comment: 'Good.', iteration: 1 }, { by: 'ann' });
      expect(info).toMatchObject({ state: 'running', total: 4, completed: 3 });
      const last = await leaseOf(waybill, 'end');
      expect(last.parentResults).toEqual([{ text: 'first' }]);
      await waybill.workflows.approve(id, 'draft');
      await complete(waybill, last, 'done');
      expect((await waybill.workflows.get(id)).state).toBe('completed');
      await waybill.workflows.approve(id, 'draft');
      const { events } = await waybill.events.read({
        limit: 100,
        filter: { types: ['job.in_review', 'job.approved'] },
      });
      expect(events.map(({ type, data }) => ({ type, ...data }))).toEqual([
        { type: 'job.in_review', workflow_id: id, node: 'draft', iteration: 1 },
        { type: 'job.approved', workflow_id: id, node: 'draft', iteration: 1, approved_by: 'ann', comment: 'Good.' },
      ]);
      const steps = await waybill.events.read({ limit: 100, filter: { types: ['workflow.step_completed'] } });
      expect(steps.events.map(({ data }) => data['step_id'])).toEqual(['plan', 'draft[1]', 'draft', 'end']);
    });

    test('a revision is the node again, with its output, the feedback and its parents, at most five times', async () => {
      const { waybill } = (await open()).server();
      const id = await inReview(waybill);
      await waybill.workflows.requestRevision(id, 'draft', { feedback: 'Shorter, please.' }, { by: 'ann' });
      const second = await leaseOf(waybill, 'draft[2]');
      expect(second.parentResults).toEqual(['the plan']);
      expect(second.revision).toEqual({ iteration: 2, feedback: 'Shorter, please.', by: 'ann', previous: 'first' });
      expect(second.job).toMatchObject({ type: 'test.job', spec: { args: ['draft'], retry: { max_attempts: 1 } } });
      for (const call of [
        () => waybill.workflows.approve(id, 'draft'),
        () => waybill.workflows.requestRevision(id, 'draft', { feedback: 'Again.' }),
      ])
        await expect(call()).rejects.toMatchObject({ ...CONFLICT, message: expect.stringContaining('iteration 2') });
      await complete(waybill, second, 'second');
      await expect(waybill.workflows.approve(id, 'draft', { iteration: 1 })).rejects.toThrow(
        'in review with iteration 2, not 1',
      );
      for (const iteration of [3, 4, 5]) {
        await waybill.workflows.requestRevision(id, 'draft', {
          feedback: `No ${iteration}.`,
          iteration: iteration - 1,
        });
        const lease = await leaseOf(waybill, `draft[${iteration}]`);
        expect(lease.revision).toMatchObject({ iteration, by: null });
        await complete(waybill, lease, `result ${iteration}`);
      }
      await expect(waybill.workflows.requestRevision(id, 'draft', { feedback: 'x' })).rejects.toThrow(
        'had 5 iterations',
      );
      await waybill.workflows.approve(id, 'draft');
      expect((await leaseOf(waybill, 'end')).parentResults).toEqual(['result 5']);
      expect(await waybill.workflows.get(id)).toMatchObject({ total: 8 });
    });

    // fault: many servers decide at once
    test('guarantee 8: of approvals and revisions at once one decision counts, and each row is made once', async () => {
      const { server } = await open();
      const all = Array.from({ length: fleet }, () => server().waybill);
      const one = all[0]!;
      const id = await inReview(one);
      const calls = all.map((waybill, index) =>
        index % 3 === 0
          ? waybill.workflows.approve(id, 'draft')
          : waybill.workflows.requestRevision(id, 'draft', { feedback: `From ${index}.` }),
      );
      const came = await Promise.allSettled(calls);
      const won = came.flatMap(({ status }, index) => (status === 'fulfilled' ? [index] : []));
      for (const answer of came) if (answer.status === 'rejected') expect(answer.reason).toMatchObject(CONFLICT);
      const told = await typesOf(one, ['job.approved', 'job.revision_requested']);
      expect(told).toHaveLength(1);
      // An approval may be repeated; of revisions one is made.
      const approvals = all.flatMap((_, index) => (index % 3 === 0 ? [index] : []));
      if (told[0] === 'job.approved') expect(won).toEqual(approvals);
      else expect(won).toHaveLength(1);
      const next = await leaseOf(one, told[0] === 'job.approved' ? 'end' : 'draft[2]');
      expect(await one.workflows.get(id)).toMatchObject({ total: told[0] === 'job.approved' ? 4 : 5 });
      if (told[0] === 'job.revision_requested') expect(next.revision!.feedback).toBe(`From ${won[0]}.`);
    });

    // fault: many servers send the signal at once
    test('guarantee 8: of signals at once one counts, and its node starts once', async () => {
      const { server } = await open();
      const all = Array.from({ length: fleet }, () => server().waybill);
      const one = all[0]!;
      const { id } = await one.workflows.create({
        nodes: [gateNode('paid', { signal: true }), gateNode('ship', { after: ['paid'] })],
      });
      const came = await Promise.allSettled(
        all.map((waybill, index) => waybill.workflows.signal(id, 'paid', { index })),
      );
      const won = came.flatMap(({ status }, index) => (status === 'fulfilled' ? [index] : []));
      expect(won).toHaveLength(1);
      expect((await leaseOf(one, 'ship')).parentResults).toEqual([{ index: won[0] }]);
      const events = await one.events.read({ limit: 100, filter: { types: ['job.enqueued'] } });
      expect(events.events).toHaveLength(1);
    });

    test('a wait that lasts too long fails its node, and what does not depend on it goes on', async () => {
      const { server, clock } = await open();
      const { waybill } = server({ maintenance: true });
      const nodes = [
        gateNode('paid', { signal: { timeout_ms: 60_000 } }),
        gateNode('ship', { after: ['paid'] }),
        gateNode('draft', { review: { timeout_ms: 120_000 } }),
        gateNode('print', { after: ['draft'] }),
        gateNode('slow'),
      ];
      const { id } = await waybill.workflows.create({ nodes });
      const [draft, slow] = await started(waybill, 'draft[1]', 'slow');
      await complete(waybill, draft, 'text');
      const stateOf = async (node: string) => (await rowsOf(waybill, id)).get(node)!.state;
      expect((await rowsOf(waybill, id)).get('draft')!.waiting!.until).toBe(clock.now() + 120_000);
      await until(async () => (await stateOf('ship')) === 'cancelled', clock);
      expect((await rowsOf(waybill, id)).get('paid')).toMatchObject({
        state: 'discarded',
        dead: false,
        errors: [{ code: 'signal_timeout', message: "The signal 'paid' did not come within 60000 ms." }],
      });
      await expect(waybill.workflows.signal(id, 'paid', 1)).rejects.toMatchObject(CONFLICT);
      expect(await waybill.workflows.get(id)).toMatchObject({ state: 'running', partialFailure: true });
      await until(async () => (await stateOf('print')) === 'cancelled', clock);
      expect((await rowsOf(waybill, id)).get('draft')).toMatchObject({
        state: 'discarded',
        errors: [{ code: 'review_timeout' }],
      });
      await expect(waybill.workflows.approve(id, 'draft')).rejects.toMatchObject(CONFLICT);
      await complete(waybill, slow, 1);
      await until(async () => (await waybill.workflows.get(id)).state === 'failed', clock);
      expect(await waybill.workflows.get(id)).toMatchObject({ failed: 2, cancelled: 2 });
      // A workflow that is resumed waits again, with all the time.
      await waybill.workflows.resume(id);
      await until(async () => (await rowsOf(waybill, id)).get('paid')!.waiting !== undefined, clock);
      await waybill.workflows.signal(id, 'paid', 'at last');
      await until(async () => (await rowsOf(waybill, id)).get('draft')!.waiting !== undefined, clock);
      await waybill.workflows.approve(id, 'draft');
      for (const lease of await started(waybill, 'print', 'ship')) await complete(waybill, lease, null);
      expect((await waybill.workflows.get(id)).state).toBe('completed');
    });

    // fault: the server that makes a decision dies after each answer of the store
    test('guarantee 8: wherever the deciding server dies, a decision that was stored is carried out by another', async () => {
      const { server, clock } = await open();
      const { waybill } = server({ maintenance: true });
      let stored = 0;
      for (let calls = 0; calls <= LONGEST_SEQUENCE; calls += 1) {
        const id = await inReview(waybill);
        const { id: other } = await waybill.workflows.create({ nodes: [gateNode('paid', { signal: true })] });
        const dying = server();
        dying.dieAfter(calls);
        const feedback = 'Shorter.';
        await dying.waybill.workflows.requestRevision(id, 'draft', { feedback }).catch(() => {});
        await dying.waybill.workflows.signal(other, 'paid', 7).catch(() => {});
        const again = await waybill.workflows.requestRevision(id, 'draft', { feedback }).catch((error) => error);
        if (again instanceof Error) stored += 1;
        await waybill.workflows.signal(other, 'paid', 7);
        const isThere = async () =>
          (await rowsOf(waybill, id)).has('draft[2]') && (await waybill.workflows.get(other)).state === 'completed';
        await until(isThere, clock);
        const lease = await leaseOf(waybill, 'draft[2]');
        expect(lease.revision).toMatchObject({ iteration: 2, feedback, previous: 'first' });
        await waybill.workflows.cancel(id);
      }
      // Both kinds of death have been tried.
      expect(stored).toBeGreaterThan(1);
      expect(stored).toBeLessThan(LONGEST_SEQUENCE);
    });

    test('an iteration that fails fails its node; resumed, it runs again with what the reviewer said', async () => {
      const { server, clock } = await open();
      const { waybill } = server({ maintenance: true });
      const id = await inReview(waybill);
      await waybill.workflows.requestRevision(id, 'draft', { feedback: 'More.' });
      await fail(waybill, await leaseOf(waybill, 'draft[2]'));
      await until(async () => (await waybill.workflows.get(id)).state === 'failed', clock);
      expect(await waybill.workflows.get(id)).toMatchObject({ failed: 1, cancelled: 2 });
      await expect(waybill.workflows.approve(id, 'draft')).rejects.toMatchObject(CONFLICT);
      await waybill.workflows.resume(id);
      const lease = await leaseOf(waybill, 'draft[2]');
      expect(lease.revision).toMatchObject({ feedback: 'More.', previous: 'first' });
      await complete(waybill, lease, 'second');
      await until(async () => (await rowsOf(waybill, id)).get('draft')!.waiting?.iteration === 2, clock);
      await waybill.workflows.approve(id, 'draft');
      expect((await leaseOf(waybill, 'end')).parentResults).toEqual(['second']);
    });

    test('a cancelled workflow takes no decision, and a skipped node needs none', async () => {
      const { waybill } = (await open()).server();
      const id = await inReview(waybill);
      await waybill.workflows.cancel(id);
      await expect(waybill.workflows.approve(id, 'draft')).rejects.toMatchObject(CONFLICT);
      const off = { parent: 'plan', equals: 'another plan' };
      const nodes = [
        gateNode('plan'),
        gateNode('draft', { after: ['plan'], when: off, review: true }),
        gateNode('paid', { after: ['plan'], when: off, signal: true }),
        gateNode('end', { after: ['draft', 'paid', 'plan'] }),
      ];
      const flow = await waybill.workflows.create({ nodes });
      await complete(waybill, await leaseOf(waybill, 'plan'), 'the plan');
      expect((await leaseOf(waybill, 'end')).parentResults).toEqual([null, null, 'the plan']);
      expect(await waybill.workflows.get(flow.id)).toMatchObject({ skipped: 3 });
      await expect(waybill.workflows.approve(flow.id, 'draft')).rejects.toThrow('was skipped');
      await expect(waybill.workflows.signal(flow.id, 'paid', 1)).rejects.toThrow('was skipped');
    });

    test('gates join a running workflow, and the same call again adds nothing', async () => {
      const { waybill } = (await open()).server();
      const { id } = await waybill.workflows.create({ nodes: [gateNode('plan'), gateNode('hold', { signal: true })] });
      await complete(waybill, await leaseOf(waybill, 'plan'), 'the plan');
      const more = [
        gateNode('draft', { after: ['plan'], review: true }),
        gateNode('paid', { after: ['plan'], signal: true }),
        gateNode('end', { after: ['draft', 'paid'] }),
      ];
      expect(await waybill.workflows.addNodes(id, more)).toMatchObject({ total: 6 });
      const lease = await leaseOf(waybill, 'draft[1]');
      await complete(waybill, lease, 'first');
      await waybill.workflows.requestRevision(id, 'draft', { feedback: 'More.' });
      expect(await waybill.workflows.addNodes(id, more)).toMatchObject({ total: 7 });
      await waybill.workflows.signal(id, 'paid', 5);
      await complete(waybill, await leaseOf(waybill, 'draft[2]'), 'second');
      await waybill.workflows.approve(id, 'draft');
      expect((await leaseOf(waybill, 'end')).parentResults).toEqual(['second', 5]);
    });
  });
}
