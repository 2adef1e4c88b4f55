import { type Engine, newJobId } from '@waybill/core';
import { TestClock, testEngine } from '@waybill/core/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { canRun, useLocalDynamo } from '../../dynamodb/testing/bench.ts';
import type { BusEvent } from '../envelope.ts';
import { TASK_EVENTS, type TaskEventType } from '../event-types.ts';
import { keysOf, taskEntity } from '../keys.ts';
import { APP, settle, translated } from '../testing/bench.ts';
import { type EventTable, eventTable } from './event-table.ts';

const LEASE = { workerId: 'w', leaseMs: 10_000 };
const ERROR = { code: 'boom', message: 'It broke.' };
const JOB = newJobId(1_700_000_000_000);

const node = (id: string, ...depends_on: string[]) => ({ id, type: `t.${id}`, args: [], depends_on });

describe.skipIf(!canRun)('the table of events (skipped: needs Java 17)', () => {
  const local = useLocalDynamo();

  async function open({
    clock = new TestClock(),
    ttlDays = 90,
  } = {}): Promise<EventTable & { clock: TestClock; table: string }> {
    const table = local.newTable();
    const made = await eventTable({ table, client: local.client(), createTable: true, clock, ttlDays });
    onTestFinished(() => made.close());
    return { ...made, clock, table };
  }

  /** An engine, and what its log says in a table. */
  async function projected(work: (made: ReturnType<typeof testEngine>) => Promise<unknown>) {
    const clock = new TestClock();
    const table = await open({ clock });
    const made = testEngine({ clock });
    await work(made);
    await saveAll(table, made.waybill);
    return { ...made, table };
  }

  const saveAll = async (table: EventTable, waybill: Engine) => {
    for (const event of await translated(waybill)) await table.save(event);
  };

  /** An event of a task as somebody else may have made it. */
  function anEvent(
    eventType: TaskEventType,
    over: Partial<BusEvent> & { taskId?: string; jobId?: string } = {},
  ): BusEvent {
    const { taskId = 'task-1', jobId = JOB, ...rest } = over;
    const facts = {
      ...{ entityType: 'TASK' as const, entityId: taskEntity({ jobId, taskId }), tenantId: '', app: APP, eventType },
      ...{ timestamp: 1_700_000_000_000, eventId: `${taskId}-${eventType}`, order: '1', ...rest },
    };
    const properties = { requestId: taskId, jobId, ...rest.properties };
    return { context: { source: 'system', environment: 't', origin: 'o' }, ...facts, ...keysOf(facts), properties };
  }

  test('an event is saved once however often it comes, with the moment of the first time and an end', async () => {
    const table = await open({ ttlDays: 1 });
    const event = anEvent('Task Pending', { timestamp: table.clock.now() });
    const receivedAt = table.clock.now();
    expect(await table.save(event)).toBe(true);
    await table.clock.advance(5_000);
    expect(await table.save(event)).toBe(false);
    expect(await table.taskHistory({ jobId: JOB, taskId: 'task-1' })).toEqual([{ ...event, receivedAt }]);
    const { GetItemCommand } = await import('@aws-sdk/client-dynamodb');
    const Key = { pk: { S: event.pk }, sk: { S: event.sk } };
    const { Item } = await local.client().send(new GetItemCommand({ TableName: table.table, Key }));
    expect(Number(Item!['ttl']!.N)).toBe(Math.ceil((event.timestamp + 86_400_000) / 1_000));
  });

  test('a job from its first to its last event: states of tasks, history, status', async () => {
    const { table, waybill } = await projected(async ({ waybill: engine, claimOne }) => {
      await engine.workflows.create({ type: 'dag', nodes: [node('a'), node('b', 'a'), node('c', 'b')] });
      await settle(engine, await claimOne(LEASE), { kind: 'completed', result: 'A' });
      await claimOne(LEASE);
    });
    const jobId = (await waybill.workflows.list()).items[0]!.id;
    const states = (await table.jobTasks({ app: APP, jobId })).map(({ taskId, state, isLive }) => [
      taskId,
      state,
      isLive,
    ]);
    expect(states).toEqual([
      ['a', 'completed', false],
      ['b', 'processing', true],
      ['c', 'waiting', false],
    ]);
    expect((await table.taskHistory({ jobId, taskId: 'b' })).map(({ eventType }) => eventType)).toEqual([
      ...['Task Waiting', 'Task Pending', 'Task Processing Started'],
    ]);
    expect((await table.latestOfType({ jobId, taskId: 'a' }, 'Task Completed'))!.properties['output']).toBe('A');
    expect(await table.jobStatus({ app: APP, jobId })).toMatchObject({ status: 'processing', totalTasks: 3 });
    expect((await table.jobEvents({ jobId })).map(({ eventType }) => eventType)).toEqual(['Job Created']);
  });

  test('a job with a failed task is partly failed while others go on, and each job is in one page only', async () => {
    const { table, waybill } = await projected(async ({ waybill: engine, claimOne }) => {
      const shape = { type: 'dag', failure_policy: 'continue', nodes: [node('a'), node('b')] };
      for (let at = 0; at < 3; at += 1) await engine.workflows.create(shape);
      await settle(engine, await claimOne(LEASE), { kind: 'discarded', error: ERROR });
    });
    const { items } = await waybill.workflows.list();
    const failed = await table.jobs({ app: APP, status: 'partial_failure' });
    expect(failed.jobs).toHaveLength(1);
    const first = await table.jobs({ app: APP, limit: 2 });
    const second = await table.jobs({ app: APP, limit: 2, cursor: first.cursor! });
    expect([first.jobs.length, second.jobs.length, second.cursor]).toEqual([2, 1, undefined]);
    expect([...first.jobs, ...second.jobs].map(({ jobId }) => jobId).sort()).toEqual(items.map(({ id }) => id).sort());
    await expect(table.jobs({ app: APP, cursor: 'x' })).rejects.toMatchObject({ code: 'invalid_request' });
  });

  test('tasks that are processed now, of one worker or of all, each once however often it was started', async () => {
    const { table } = await projected(async ({ waybill, clock, enqueue, claimOne }) => {
      const retry = { max_attempts: 3, initial_interval: 'PT1S', jitter: false };
      for (let at = 0; at < 3; at += 1) await enqueue({ retry });
      await settle(waybill, await claimOne(LEASE), { kind: 'completed', result: null });
      const again = await claimOne({ workerId: 'w1', leaseMs: 60_000 });
      await settle(waybill, again, { kind: 'failed', error: ERROR });
      await claimOne({ workerId: 'w2', leaseMs: 60_000 });
      await clock.advance(1_000);
      await claimOne({ workerId: 'w1', leaseMs: 60_000 });
    });
    const workers = (await table.activeTasks({ app: APP })).map(({ workerId }) => workerId);
    expect(workers.sort()).toEqual(['w1', 'w2']);
    expect(await table.activeTasks({ app: APP, workerId: 'w2' })).toHaveLength(1);
    const byState = await table.tasksByState({ app: APP });
    expect(Object.entries(byState).map(([state, tasks]) => [state, tasks.length])).toEqual([
      ...[
        ['waiting', 0],
        ['pending', 0],
        ['processing', 2],
        ['in_review', 0],
        ['completed', 1],
        ['failed', 0],
      ],
    ]);
  });

  test('timelines go on page by page, newest first, without a gap', async () => {
    const { table, waybill } = await projected(async ({ enqueue, clock }) => {
      for (let at = 0; at < 7; at += 1) {
        await enqueue();
        await clock.advance(10);
      }
    });
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await table.tenantTimeline('', { limit: 3, ...(cursor !== undefined && { cursor }) });
      seen.push(...page.events.map(({ properties }) => properties.requestId!));
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(seen).toEqual((await waybill.jobs.list()).items.map(({ id }) => id));
    expect((await table.appTimeline(APP)).events).toHaveLength(7);
    const since = (await table.appTimeline(APP)).events[1]!.timestamp;
    expect((await table.eventsOfType('Task Pending', { since })).events).toHaveLength(2);
    expect((await table.eventsOfType('Task Pending', { app: 'other' })).events).toEqual([]);
  });

  describe('what others got wrong', () => {
    test('a: two events of one millisecond have an order', async () => {
      const table = await open();
      await table.save(anEvent('Task Completed', { order: '2', eventId: 'a' }));
      await table.save(anEvent('Task Processing Started', { order: '1', eventId: 'b' }));
      expect(await table.taskState({ jobId: JOB, taskId: 'task-1' })).toMatchObject({ state: 'completed' });
    });

    test('a: the order is the one of the row, also where the clock of the later server is behind', async () => {
      const table = await open();
      const at = 1_700_000_000_000;
      await table.save(anEvent('Task Processing Started', { order: '1', timestamp: at, eventId: 'a' }));
      await table.save(anEvent('Task Completed', { order: '2', timestamp: at - 20_000, eventId: 'b' }));
      expect(await table.taskState({ jobId: JOB, taskId: 'task-1' })).toMatchObject({ state: 'completed' });
    });

    test('b: a name that begins like another one is another task', async () => {
      const table = await open();
      await table.save(anEvent('Task Completed', { taskId: 'task-10' }));
      expect(await table.taskState({ jobId: JOB, taskId: 'task-1' })).toBeNull();
      expect(await table.latestOfType({ jobId: JOB, taskId: 'task-1' }, 'Task Completed')).toBeNull();
    });

    test('c: jobs that use the same names for their tasks share no history, nor do tenants', async () => {
      const table = await open();
      const other = newJobId(1_700_000_000_001);
      await table.save(anEvent('Task Completed', { jobId: other }));
      await table.save(anEvent('Task Failed', { tenantId: 'acme' }));
      expect(await table.taskState({ jobId: JOB, taskId: 'task-1' })).toBeNull();
      expect(await table.taskState({ tenant: 'acme', jobId: JOB, taskId: 'task-1' })).toMatchObject({
        state: 'failed',
      });
      expect(await table.jobTasks({ app: APP, jobId: JOB })).toEqual([]);
    });

    test('d: what is larger than a megabyte is read to its end', async () => {
      const table = await open();
      const output = 'x'.repeat(150_000);
      for (let at = 0; at < 9; at += 1) {
        const order = String(at);
        await table.save(anEvent('Task Processing Failed', { order, eventId: order, properties: { output } }));
        await table.save(anEvent('Task Completed', { taskId: `t${at}`, properties: { output } }));
      }
      expect(await table.taskHistory({ jobId: JOB, taskId: 'task-1' })).toHaveLength(9);
      expect(await table.jobTasks({ app: APP, jobId: JOB })).toHaveLength(10);
      expect((await table.tasksByState({ app: APP })).completed).toHaveLength(9);
    });

    test('a failed task is failed although it was started, and one that was reviewed is what it became', async () => {
      const table = await open();
      const ways: Record<string, TaskEventType[]> = {
        failed: ['Task Pending', 'Task Processing Started', 'Task Failed'],
        timeout: ['Task Pending', 'Task Processing Started', 'Task Timeout'],
        reviewed: ['Task Pending', 'Task Processing Started', 'Task Submitted For Review'],
        revised: ['Task Pending', 'Task Processing Started', 'Task Submitted For Review', 'Task Revision Requested'],
        approved: ['Task Pending', 'Task Processing Started', 'Task Submitted For Review', 'Task Approved'],
      };
      for (const [taskId, types] of Object.entries(ways))
        for (const [order, type] of types.entries()) await table.save(anEvent(type, { taskId, order: String(order) }));
      const states = (await table.jobTasks({ app: APP, jobId: JOB })).map(({ taskId, state }) => [taskId, state]);
      expect(Object.fromEntries(states)).toEqual({
        ...{ failed: 'failed', timeout: 'failed', reviewed: 'in_review', revised: 'pending', approved: 'completed' },
      });
      const byState = await table.tasksByState({ app: APP });
      expect(byState.failed).toHaveLength(2);
      expect(byState.in_review).toHaveLength(1);
    });

    test('a live task stays live by its heartbeats, however many they are, and a retry does not wait for them', async () => {
      const table = await open();
      const now = table.clock.now();
      const task = { jobId: JOB, taskId: 'task-1' };
      await table.save(
        anEvent('Task Processing Started', {
          order: '1',
          timestamp: now,
          properties: { effectiveUntil: now + 45_000 },
        }),
      );
      for (let beat = 1; beat <= 60; beat += 1) {
        await table.clock.advance(20_000);
        const at = table.clock.now();
        const properties = { effectiveUntil: at + 45_000 };
        await table.save(anEvent('Task Heartbeat', { order: '2', timestamp: at, eventId: `b${beat}`, properties }));
      }
      expect(await table.taskState(task)).toMatchObject({ state: 'processing', isLive: true });
      expect(await table.jobTasks({ app: APP, jobId: JOB })).toMatchObject([{ isLive: true }]);
      await table.save(anEvent('Task Processing Failed', { order: '3', timestamp: table.clock.now() }));
      expect(await table.taskState(task)).toMatchObject({ state: 'processing', isLive: false, effectiveUntil: null });
    });
  });

  test('events of every type are read back as they were saved', async () => {
    const table = await open();
    for (const type of Object.keys(TASK_EVENTS) as TaskEventType[]) {
      const event = anEvent(type, { properties: { deep: { a: [1, { b: null }], '': 1e300 } } });
      await table.save(event);
      const [found] = (await table.eventsOfType(type)).events;
      expect(found).toEqual({ ...event, receivedAt: table.clock.now() });
    }
  });
});
