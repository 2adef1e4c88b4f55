import { describe, expect, expectTypeOf, onTestFinished, test } from 'vitest';
import { connect, jobOf, task } from '../index.ts';

const fetchPage = task('page.fetch', {
  run: async ({ url }: { url: string }) => ({ url, links: [`${url}/a`, `${url}/b`], words: url.length }),
});
const sizeOf = task('link.size', { run: async (link: string) => link.length });
const summarise = task('page.summarise', {
  parents: { page: fetchPage, sizes: [sizeOf] },
  run: async (_: undefined, { parents }) => {
    expectTypeOf(parents.page.words).toEqualTypeOf<number>();
    expectTypeOf(parents.sizes).toEqualTypeOf<number[]>();
    return `${parents.page.url}: ${parents.sizes.join(' + ')}`;
  },
});
const alert = task('chat.alert', { run: async ({ text }: { text: string }) => text });

async function open() {
  const waybill = await connect('sqlite::memory:');
  onTestFinished(() => waybill.close());
  return waybill;
}

const LONG = { timeoutMs: 60_000 };

describe('workflow()', () => {
  test('runs a graph whose parents, maps and conditions are typed, and wait answers its results', async () => {
    const waybill = await open();
    waybill.work([fetchPage, sizeOf, summarise, alert]);
    const started = await waybill.workflow(
      (w) => {
        const page = w.run(fetchPage, { url: 'https://example.org' });
        expectTypeOf(page.id).toEqualTypeOf<string>();
        const sizes = w.map(sizeOf, page, { path: 'links', concurrency: 2 });
        w.run(summarise, undefined, { after: { page, sizes }, id: 'summary' });
        w.run(alert, { text: 'large' }, { after: { page }, when: { parent: 'page', path: 'words', gt: 1_000 } });
        w.run(
          alert,
          { text: 'small' },
          { after: { page }, when: { parent: 'page', path: 'words', lte: 1_000 }, delay: 5 },
        );
      },
      { name: 'digest', timeoutMs: 60_000 },
    );
    expect(started).toMatchObject({ name: 'digest', state: 'running', timeoutMs: 60_000, total: 5 });
    const ended = await waybill.wait(started, LONG);
    expect(ended).toMatchObject({ state: 'completed', total: 7, completed: 6, skipped: 1 });
    expect(ended.results).toEqual({
      'page.fetch': expect.objectContaining({ words: 19 }),
      'link.size': [21, 21],
      summary: 'https://example.org: 21 + 21',
      'chat.alert': null,
      'chat.alert-2': 'small',
    });
    // One that has ended before is answered at once.
    expect((await waybill.wait(started, LONG)).state).toBe('completed');
  });

  test('a plain graph hands the results of declared parents on by the names of its nodes', async () => {
    const waybill = await open();
    waybill.work([fetchPage, sizeOf, summarise]);
    const { id } = await waybill.workflows.create({
      nodes: [
        { id: 'page', job: jobOf(fetchPage, { url: 'x' }) },
        { id: 'sizes', depends_on: ['page'], job: jobOf(sizeOf, 'one'), if_skipped: 'run' },
        { id: 'end', depends_on: ['page'], job: jobOf(fetchPage, { url: 'y' }) },
      ],
    });
    expect((await waybill.wait(await waybill.workflows.get(id), LONG)).state).toBe('completed');
    const lacking = [{ id: 'a', job: jobOf(summarise) }];
    await expect(waybill.workflows.create({ nodes: lacking })).rejects.toThrow("nodes[0] lacks 'page'");
  });

  test('a workflow that fails is answered too, and a late one is refused', async () => {
    const waybill = await open();
    const never = await waybill.workflow((w) => w.run(alert, { text: 'x' }), { timeoutMs: 1 });
    expect(await waybill.wait(never, LONG)).toMatchObject({
      state: 'failed',
      reason: 'timeout',
      results: { 'chat.alert': null },
    });
    const waiting = await waybill.workflow((w) => w.run(alert, { text: 'x' }));
    await expect(waybill.wait(waiting, { timeoutMs: 1 })).rejects.toMatchObject({ code: 'timeout' });
    const gone = AbortSignal.abort(new Error('enough'));
    await expect(waybill.wait(waiting, { signal: gone })).rejects.toThrow('enough');
  });

  test('what is wrong is refused, with the name that was meant', async () => {
    const waybill = await open();
    const build = (make: (w: never) => unknown, options = {}) => waybill.workflow(make as never, options);
    type W = { run: (...given: unknown[]) => { id: string }; map: (...given: unknown[]) => { id: string } };
    const one = (w: W) => w.run(alert, { text: 'x' });
    await expect(build(((w: W) => w.run(alert, { text: 'x' }, { whn: 1 })) as never)).rejects.toThrow(
      "Did you mean 'when'?",
    );
    await expect(build(((w: W) => w.map(alert, one(w), { concurency: 1 })) as never)).rejects.toThrow(
      "Did you mean 'concurrency'?",
    );
    await expect(build(one as never, { timeoutMS: 1 })).rejects.toThrow("Did you mean 'timeoutMs'?");
    await expect(build(((w: W) => w.run(alert, { text: 'x' }, { after: { id: 'a' } })) as never)).rejects.toThrow(
      'run(), map() or signal()',
    );
    await expect(build((async () => {}) as never)).rejects.toThrow('asynchronous');
    const twice = (w: W) => {
      const page = one(w);
      w.run(alert, { text: 'x' }, { after: { page, same: page } });
    };
    await expect(build(twice as never)).rejects.toThrow('after.page');
    const far = (w: W) => w.run(alert, { text: 'x' }, { after: { page: one(w) }, when: { parent: 'pge', equals: 1 } });
    await expect(build(far as never)).rejects.toThrow("names 'pge', which the node does not depend on");
  });

  test('the compiler refuses what does not fit', () => {
    const build = (waybill: Awaited<ReturnType<typeof open>>) =>
      waybill.workflow((w) => {
        const page = w.run(fetchPage, { url: 'x' });
        const sizes = w.map(sizeOf, page, { path: 'links' });
        // @ts-expect-error: the input is of another type
        w.run(fetchPage, { uri: 'x' });
        // @ts-expect-error: a declared parent is missing
        w.run(summarise, undefined, { after: { page } });
        // @ts-expect-error: a declared parent is of another type
        w.run(summarise, undefined, { after: { page: sizes, sizes } });
        // @ts-expect-error: declared parents need the option
        w.run(summarise);
        // @ts-expect-error: what the node returns is no list of inputs
        w.map(sizeOf, page);
        w.run(summarise, undefined, { after: { page, sizes } });
      });
    expect(build).toBeTypeOf('function');
  });
});

test('schedule() puts a schedule for a task, whose input is checked', async () => {
  const waybill = await open();
  const made = await waybill.schedule(
    alert,
    '0 9 * * *',
    { text: 'Good morning' },
    { timezone: 'Europe/Berlin', job: { priority: 5 } },
  );
  expect(made).toMatchObject({ name: 'chat.alert', expression: '0 9 * * *', timezone: 'Europe/Berlin', enabled: true });
  expect(made.template).toMatchObject({
    type: 'chat.alert',
    args: [{ text: 'Good morning' }],
    options: { priority: 5 },
  });
  const again = await waybill.schedule(alert, '0 10 * * *', { text: 'Later' }, { name: 'chat.alert' });
  expect(again.expression).toBe('0 10 * * *');
  expect(await waybill.crons.list()).toHaveLength(1);
  await expect(waybill.schedule(alert, '0 9 * * *', { text: 'x' }, { timezon: 'UTC' } as never)).rejects.toThrow(
    "Did you mean 'timezone'?",
  );
  // @ts-expect-error: the input is of another type
  await expect(waybill.schedule(alert, 9, {})).rejects.toThrow('expression');
});

test('context.enqueue hands the id and the trace of its job on', async () => {
  const waybill = await open();
  const child = task('order.child', { run: async ({ n }: { n: number }) => n * 2 });
  const parent = task('order.parent', {
    run: async (_: undefined, { enqueue }) => {
      const { id } = await enqueue(child, { n: 21 }, { idempotencyKey: 'child-1', meta: { note: 'mine' } });
      const again = await enqueue(child, { n: 21 }, { idempotencyKey: 'child-1' });
      return { id, isNew: again.created };
    },
  });
  waybill.work([parent, child]);
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  const { id } = await waybill.enqueue(parent, undefined, { meta: { traceparent, secret: 'stays' } });
  const { id: made, isNew } = await waybill.wait<{ id: string; isNew: boolean }>(id, LONG);
  expect(isNew).toBe(false);
  expect(await waybill.wait(made, LONG)).toBe(42);
  const { spec } = await waybill.jobs.get(made);
  expect(spec.meta).toEqual({ parent_id: id, traceparent, note: 'mine' });
});
