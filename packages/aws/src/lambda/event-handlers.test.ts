import { type Engine, engine, silentLogger } from '@waybill/core';
import { faultyStore, memoryStore, memoryTransport, settleChange, TestClock } from '@waybill/core/testing';
import type { EventBridgeHandler } from 'aws-lambda';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { BusEvent } from '../event-bus/envelope.ts';
import { translated } from '../event-bus/testing/bench.ts';
import { dispatcherHandler } from './dispatcher-handler.ts';
import { healthCheckHandler } from './health-check-handler.ts';
import { reviewNotifierHandler } from './review-notifier-handler.ts';
import { saveEventHandler } from './save-event-handler.ts';
import { taskEnqueuerHandler } from './task-enqueuer-handler.ts';
import { delivered, deliveredFrom, withTime } from './testing/delivered.ts';
import { upkeepHandler } from './upkeep-handler.ts';

const CHAIN = {
  type: 'chain',
  steps: [
    { type: 'a.a', args: [] },
    { type: 'a.b', args: [] },
  ],
};

/** A store without a server: what workers and functions do is all that happens. */
function serverless() {
  const clock = new TestClock();
  const store = memoryStore({ clock });
  const inner = memoryTransport({ clock });
  const sent: string[] = [];
  const transport: typeof inner = {
    ...inner,
    send: async (hints) => {
      sent.push(...hints.map(({ jobId }) => jobId));
      await inner.send(hints);
    },
  };
  const waybill = engine({ store, logger: silentLogger, maintenance: false });
  onTestFinished(() => waybill.close());
  /** Ends the next job, and its worker dies before it does what follows. */
  const endAlone = async (outcome: Parameters<typeof settleChange>[1] = { kind: 'completed', result: 1 }) => {
    const [lease] = await waybill.jobs.claim({ queues: ['default'] });
    await store.apply([settleChange(lease!.job, outcome, clock.now())]);
    return lease!.job;
  };
  const open = async () => ({ store, transport });
  return { clock, store, transport, sent, waybill, endAlone, options: { open, logger: silentLogger } };
}

const statesOf = async (waybill: Engine, id: string) =>
  Object.fromEntries((await waybill.workflows.nodes(id)).items.map(({ type, state }) => [type, state]));

describe('the dispatcher', () => {
  test('is a handler of EventBridge', async () => {
    const { options } = serverless();
    const handler: EventBridgeHandler<'log-event', unknown, void> = dispatcherHandler(options);
    expect(handler).toBeInstanceOf(Function);
  });

  test.each([
    ['completed', { kind: 'completed', result: 1 }, { 'a.a': 'completed', 'a.b': 'available' }, 'running'],
    [
      'failed',
      { kind: 'discarded', error: { code: 'boom', message: 'no' } },
      { 'a.a': 'discarded', 'a.b': 'cancelled' },
      'failed',
    ],
    // Trap: where a timeout is no trigger, the failure is noticed with the next event of the job, or never.
    [
      'ran out of time',
      { kind: 'discarded', error: { code: 'timeout', type: 'timeout', message: 'slow' } },
      { 'a.a': 'discarded', 'a.b': 'cancelled' },
      'failed',
    ],
  ] as const)('carries a job on whose task %s', async (_, outcome, states, state) => {
    const { waybill, endAlone, options, sent } = serverless();
    const { id } = await waybill.workflows.create(CHAIN);
    await endAlone(outcome);
    const handler = dispatcherHandler(options);
    for (const event of await deliveredFrom(waybill)) await handler(event);
    expect(await statesOf(waybill, id)).toEqual(states);
    expect((await waybill.workflows.get(id)).state).toBe(state);
    // The hint is sent before the function is frozen.
    expect(sent).toHaveLength(state === 'running' ? 1 : 0);
  });

  test('carries a job on whose task was approved', async () => {
    const { waybill, endAlone, options, store, clock } = serverless();
    const nodes = [
      { id: 'draft', type: 'a.draft', args: [], review: true },
      { id: 'print', type: 'a.print', args: [], depends_on: ['draft'] },
    ];
    const { id } = await waybill.workflows.create({ nodes });
    await endAlone();
    const handler = dispatcherHandler(options);
    const deliverAll = async () => {
      for (const event of await deliveredFrom(waybill)) await handler(event);
    };
    await deliverAll();
    const dying = engine({
      store: faultyStore(
        store,
        [1, 2, 3, 4, 5, 6].map((call) => ({ method: 'workflows.meet', call, when: 'before' })),
      ),
      ...{ logger: silentLogger, maintenance: false },
    });
    await dying.workflows.approve(id, 'draft');
    await clock.advance(1);
    await deliverAll();
    expect(await statesOf(waybill, id)).toMatchObject({ 'a.print': 'available' });
  });

  test('does nothing for events that end nothing, of tasks without a job, of rows that are gone, and of others', async () => {
    const { waybill, endAlone, options } = serverless();
    await waybill.jobs.enqueue({ type: 'a.a', args: [] });
    await endAlone();
    const handler = dispatcherHandler({ ...options, open: () => Promise.reject(new Error('not needed')) });
    for (const event of await deliveredFrom(waybill)) await handler(event);
    await handler({ 'detail-type': 'other', detail: {} });
    await handler({ 'detail-type': 'log-event', detail: { eventType: 'Task Completed' } });
    const [event] = await translated(waybill);
    const gone = { jobId: 'j', rowId: '01900000-0000-7000-8000-000000000000' };
    const unknown: BusEvent = { ...event!, eventType: 'Task Completed', properties: gone };
    await dispatcherHandler(options)(delivered(unknown));
  });

  test('fails where the store does, so that the event comes again', async () => {
    const { waybill, endAlone, store, options } = serverless();
    await waybill.workflows.create(CHAIN);
    await endAlone();
    const faulty = faultyStore(store, [{ method: 'workflows.meet', call: 1, when: 'before' }]);
    const handler = dispatcherHandler({ ...options, open: async () => ({ store: faulty }) });
    const done = (await deliveredFrom(waybill)).at(-1)!;
    await expect(handler(done)).rejects.toThrow('workflows.meet');
    await handler(done);
  });
});

test('an event is saved as it came, and what is no event is left out', async () => {
  const { waybill } = serverless();
  await waybill.jobs.enqueue({ type: 'a.a', args: [] });
  const saved: BusEvent[] = [];
  const handler = saveEventHandler({
    logger: silentLogger,
    open: async () => ({ save: async (event) => saved.push(event) > 0 }),
  });
  for (const event of await deliveredFrom(waybill)) await handler(event);
  await handler({ 'detail-type': 'log-event', detail: { eventType: 'Nothing Known' } });
  expect(saved).toEqual(await translated(waybill));
});

test('a store that could not be opened is opened anew by the next invocation', async () => {
  const { waybill } = serverless();
  await waybill.jobs.enqueue({ type: 'a.a', args: [] });
  let opened = 0;
  const handler = saveEventHandler({
    open: async () => {
      opened += 1;
      if (opened === 1) throw new Error('away');
      return { save: async () => true };
    },
  });
  const [event] = await deliveredFrom(waybill);
  await expect(handler(event!)).rejects.toThrow('away');
  await handler(event!);
  await handler(event!);
  expect(opened).toBe(2);
});

test('the enqueuer sends the hint of a task that is pending, and none of one that was claimed meanwhile', async () => {
  const { waybill, options, sent } = serverless();
  const { job } = await waybill.jobs.enqueue({ type: 'a.a', args: [] });
  const handler = taskEnqueuerHandler(options);
  const [pending] = await deliveredFrom(waybill);
  await handler(pending!);
  expect(sent).toEqual([job.id]);
  await waybill.jobs.claim({ queues: ['default'] });
  for (const event of await deliveredFrom(waybill)) await handler(event);
  expect(sent).toEqual([job.id]);
});

test('people are told of a task that was submitted for review, with its iteration and summary', async () => {
  const { waybill, endAlone, options, clock } = serverless();
  const nodes = [{ id: 'draft', type: 'a.draft', args: [], review: true }];
  const { id } = await waybill.workflows.create({ nodes });
  await endAlone({ kind: 'completed', result: 'x'.repeat(300) });
  const dispatcher = dispatcherHandler(options);
  for (const event of await deliveredFrom(waybill)) await dispatcher(event);
  const told: object[] = [];
  const handler = reviewNotifierHandler({ notify: async (notice) => told.push(notice) });
  for (const event of await deliveredFrom(waybill)) await handler(event);
  const summary = 'x'.repeat(200);
  expect(told).toMatchObject([
    { tenant: '', jobId: id, taskId: 'draft', iteration: 1, summary, submittedAt: clock.now() },
  ]);
});

test('upkeep does what a server does: with it, a store without a server loses nothing', async () => {
  const { waybill, clock, endAlone, options } = serverless();
  const { id } = await waybill.workflows.create(CHAIN);
  const upkeep = upkeepHandler(options);
  await endAlone();
  await upkeep({}, withTime(60_000));
  expect(await statesOf(waybill, id)).toMatchObject({ 'a.b': 'available' });
  await waybill.jobs.claim({ queues: ['default'], leaseMs: 10_000 });
  await clock.advance(10_001);
  expect(await upkeep({}, withTime(60_000))).toMatchObject({ failed: 1 });
  await endAlone();
  await upkeep({}, withTime(60_000));
  expect((await waybill.workflows.get(id)).state).toBe('completed');
});

test('upkeep stays for what becomes due meanwhile, and ends before its own time does', async () => {
  const { waybill, clock, options } = serverless();
  const at = (ms: number) => new Date(clock.now() + ms).toISOString();
  const { job } = await waybill.jobs.enqueue({ type: 'a.a', args: [], options: { scheduled_at: at(20_000) } });
  const { job: late } = await waybill.jobs.enqueue({ type: 'a.a', args: [], options: { scheduled_at: at(90_000) } });
  let isOver = false;
  const ended = upkeepHandler({ ...options, forMs: 50_000 })({}, withTime(40_000)).finally(() => {
    isOver = true;
  });
  const begun = clock.now();
  while (!isOver) await clock.advance(1_000);
  await ended;
  expect(clock.now() - begun).toBeLessThanOrEqual(32_000);
  expect((await waybill.jobs.get(job.id)).state).toBe('available');
  expect((await waybill.jobs.get(late.id)).state).toBe('scheduled');
});

describe('the health check', () => {
  const checks = {
    all: async () => ({ totalProcessing: 3 }),
    one: async ({ requestId, jobId }: { requestId: string; jobId?: string }) =>
      requestId === 'r' ? { health: 'healthy', jobId } : null,
  };
  const handler = healthCheckHandler({ open: async () => checks });

  test.each([
    [{ 'detail-type': 'Scheduled Event', source: 'aws.events' }, { totalProcessing: 3 }],
    [
      { requestId: 'r', jobId: 'j' },
      { health: 'healthy', jobId: 'j' },
    ],
    [{ requestId: 'x' }, { requestId: 'x', status: 'not_found' }],
  ])('called with %j answers %j', async (event, answer) => {
    expect(await handler(event)).toEqual(answer);
  });

  test.each([[{}], [{ requestId: 7 }], ['text']])('refuses %j, which names no task', async (event) => {
    await expect(handler(event)).rejects.toMatchObject({ code: 'invalid_request' });
  });
});
