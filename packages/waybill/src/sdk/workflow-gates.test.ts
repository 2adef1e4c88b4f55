import { describe, expect, expectTypeOf, onTestFinished, test } from 'vitest';
import { connect, signal, task } from '../index.ts';

const LONG = { timeoutMs: 60_000 };

interface Payment {
  amount: number;
}

const paymentSchema = {
  '~standard': {
    version: 1 as const,
    vendor: 'test',
    validate: (value: unknown) =>
      typeof (value as Payment | null)?.amount === 'number'
        ? { value: value as Payment }
        : { issues: [{ message: 'must be a number', path: ['amount'] }] },
    types: undefined as { input: Payment; output: Payment } | undefined,
  },
};

const paid = signal('order.paid', { data: paymentSchema });
const draft = task('page.draft', {
  run: async ({ topic }: { topic: string }, { revision }) => {
    expectTypeOf(revision?.iteration).toEqualTypeOf<number | undefined>();
    return revision === null ? `on ${topic}` : `${revision.previous as string}, ${revision.feedback} (${revision.by})`;
  },
});
const publish = task('page.publish', {
  parents: { page: draft, payment: paid },
  run: async (_: undefined, { parents }) => {
    expectTypeOf(parents.page).toEqualTypeOf<string>();
    expectTypeOf(parents.payment).toEqualTypeOf<Payment>();
    return `${parents.page} for ${parents.payment.amount}`;
  },
});

async function open() {
  const waybill = await connect('sqlite::memory:');
  onTestFinished(() => waybill.close());
  return waybill;
}

type Waybill = Awaited<ReturnType<typeof open>>;

/** Until the log tells that the node of this name waits, so often. */
async function waits(waybill: Waybill, type: 'job.in_review' | 'job.waiting', times = 1): Promise<void> {
  const { signal: aborted } = new AbortController();
  let seen = 0;
  for await (const _ of waybill.events.follow({ filter: { types: [type] }, signal: aborted })) {
    seen += 1;
    if (seen === times) return;
  }
}

describe('gates in workflow()', () => {
  test('a review and a signal are typed from end to end', async () => {
    const waybill = await open();
    waybill.work([draft, publish]);
    const started = await waybill.workflow((w) => {
      const page = w.run(draft, { topic: 'bees' }, { review: { timeoutMs: 60_000 }, id: 'page' });
      const payment = w.signal(paid, { timeoutMs: 60_000 });
      expectTypeOf(payment).toEqualTypeOf<ReturnType<typeof w.signal<Payment>>>();
      w.run(publish, undefined, { after: { page, payment } });
    });
    await waits(waybill, 'job.in_review');
    await waybill.workflows.requestRevision(started, 'page', { feedback: 'shorter' }, { by: 'ann' });
    await waits(waybill, 'job.in_review', 2);
    await waybill.workflows.approve(started, 'page', { iteration: 2 }, { by: 'bob' });
    await waybill.workflows.signal(started, paid, { amount: 5 });
    const { state, results } = await waybill.wait(started, LONG);
    expect(state).toBe('completed');
    expect(results).toEqual({
      page: 'on bees, shorter (ann)',
      'order.paid': { amount: 5 },
      'page.publish': 'on bees, shorter (ann) for 5',
    });
  });

  test('data that does not fit its signal is refused before it is sent', async () => {
    const waybill = await open();
    const { id } = await waybill.workflow((w) => w.signal(paid));
    // @ts-expect-error: the data is of another type
    const call = waybill.workflows.signal(id, paid, { amount: '5' });
    await expect(call).rejects.toMatchObject({
      code: 'validation_error',
      details: { signal: 'order.paid', field: 'data.amount' },
    });
    await waybill.workflows.signal(id, 'order.paid', { amount: 5 });
    expect((await waybill.workflows.get(id)).state).toBe('completed');
  });

  test('what is wrong is refused, with the name that was meant', async () => {
    const waybill = await open();
    type W = { run: (...given: unknown[]) => { id: string }; signal: (...given: unknown[]) => { id: string } };
    const build = (make: (w: W) => unknown) => waybill.workflow(make as never);
    const topic = { topic: 'x' };
    await expect(build((w) => w.run(draft, topic, { reviw: true }))).rejects.toThrow("Did you mean 'review'?");
    await expect(build((w) => w.run(draft, topic, { review: { timeoutMS: 1 } }))).rejects.toThrow(
      "Did you mean 'timeoutMs'?",
    );
    await expect(build((w) => w.signal('paid', { timeout: 1 }))).rejects.toThrow("Did you mean 'timeoutMs'?");
    await expect(build((w) => w.signal('paid', { when: { parent: 'x', equals: 1 } }))).rejects.toThrow("'depends_on'");
    await expect(build((w) => [w.signal('paid'), w.signal('paid')])).rejects.toThrow("repeats 'paid'");
    await expect(build((w) => w.run(publish, undefined, { after: { page: w.run(draft, topic) } }))).rejects.toThrow(
      "lacks 'payment'",
    );
    const flow = await waybill.workflow((w) => w.signal('paid'));
    await expect(waybill.workflows.approve(flow, 'x', { coment: 'x' } as never)).rejects.toThrow(
      "Did you mean 'comment'?",
    );
    await expect(waybill.workflows.signal(flow, 'paid', 1, { bye: 'x' } as never)).rejects.toThrow(
      "Did you mean 'by'?",
    );
    expect(() => signal('')).toThrow('needs a name');
    expect(() => signal('paid', { dta: paymentSchema } as never)).toThrow("Did you mean 'data'?");
  });

  test('the compiler refuses what does not fit', () => {
    const build = (waybill: Waybill) =>
      waybill.workflow((w) => {
        const page = w.run(draft, { topic: 'x' }, { review: true });
        const payment = w.signal(paid);
        // @ts-expect-error: a declared parent is of another type
        w.run(publish, undefined, { after: { page: payment, payment } });
        // @ts-expect-error: a declared signal is missing
        w.run(publish, undefined, { after: { page } });
        w.run(publish, undefined, { after: { page, payment } });
      });
    expect(build).toBeTypeOf('function');
  });
});
