import { testEngine } from '@waybill/core/testing';
import { describe, expect, test } from 'vitest';
import { keysOf, taskEntity } from './keys.ts';
import { DLQ_ERROR } from './task-properties.ts';
import { APP, settle, translated } from './testing/bench.ts';

const ERROR = { code: 'boom', message: `It broke. ${'x'.repeat(600)}` };
const RETRY = { retry: { max_attempts: 2, initial_interval: 'PT1S', jitter: false } };
const LEASE = { workerId: 'w', leaseMs: 10_000 };
const CHAIN = {
  type: 'dag',
  failure_policy: 'continue',
  nodes: [
    { id: 'fetch', type: 'page.fetch', args: [{ url: 'u' }] },
    { id: 'sum', type: 'page.sum', args: [], depends_on: ['fetch'] },
  ],
};

type Made = ReturnType<typeof testEngine>;
type Way = (made: Made, id: string) => Promise<unknown>;

const failOnce: Way = async ({ waybill, claimOne }) => {
  const lease = await claimOne(LEASE);
  return settle(waybill, lease, { kind: 'failed', error: ERROR });
};

const WAYS: [name: string, way: Way, types: string[]][] = [
  [
    'completes',
    async (made) => settle(made.waybill, await made.claimOne(LEASE), { kind: 'completed', result: 1 }),
    ['Task Processing Started', 'Task Completed'],
  ],
  ['fails once', failOnce, ['Task Processing Started', 'Task Processing Failed']],
  [
    'fails for good',
    async (made, id) => {
      await failOnce(made, id);
      await made.clock.advance(1_000);
      await failOnce(made, id);
    },
    ['Task Processing Started', 'Task Processing Failed', 'Task Pending', 'Task Processing Started', 'Task Failed'],
  ],
  [
    'loses its worker',
    async ({ claimOne, clock }) => {
      await claimOne(LEASE);
      await clock.advance(10_001);
    },
    ['Task Processing Started', 'Task Processing Failed', 'Task Pending'],
  ],
  [
    'is handed back',
    async (made) => settle(made.waybill, await made.claimOne(LEASE), { kind: 'requeued' }),
    ['Task Processing Started', 'Task Pending'],
  ],
  ['is cancelled', ({ waybill }, id) => waybill.jobs.cancel(id), ['Task Failed']],
  [
    'runs out of time for good',
    async (made) =>
      settle(made.waybill, await made.claimOne(LEASE), {
        kind: 'discarded',
        error: { code: 'timeout', type: 'timeout', message: 'It took too long.' },
      }),
    ['Task Processing Started', 'Task Timeout'],
  ],
  ['is moved to the dead-letter queue', ({ waybill }, id) => waybill.upkeep.giveUp(id, DLQ_ERROR), ['Task Failed']],
];

describe('what a task does is told in the words of the bus', () => {
  test.each(WAYS)('a task that %s', async (_, way, types) => {
    const made = testEngine();
    const id = await made.enqueue(RETRY);
    await way(made, id);
    const events = await translated(made.waybill);
    expect(events.map(({ eventType }) => eventType)).toEqual(['Task Pending', ...types]);
    for (const { entityType, entityId, properties } of events) {
      expect([entityType, entityId]).toEqual(['TASK', id]);
      expect(properties).toMatchObject({ requestId: id, rowId: id });
    }
    // By the row, and so also where the events have one moment.
    const orders = events.map(({ order }) => order);
    expect(orders).toEqual([...orders].sort());
    expect(new Set(orders).size).toBe(orders.length);
  });

  test('a failure has its class, its attempt and at most 500 characters', async () => {
    const made = testEngine();
    const id = await made.enqueue({ retry: { max_attempts: 1 } });
    await failOnce(made, id);
    const failed = (await translated(made.waybill)).at(-1)!;
    expect(failed.properties).toMatchObject({ errorCategory: 'unknown', retryCount: 1, source: 'worker' });
    expect(failed.properties['error']).toHaveLength(500);
    expect(failed.context).toMatchObject({ source: 'system', environment: 'test', origin: 'worker' });
  });

  test('a failure of the dead-letter queue says so', async () => {
    const made = testEngine();
    const id = await made.enqueue();
    await made.waybill.upkeep.giveUp(id, DLQ_ERROR);
    const failed = (await translated(made.waybill)).at(-1)!;
    const error = 'max retries exhausted, moved to DLQ';
    expect(failed.properties).toMatchObject({ error, errorCategory: 'max-retries', source: 'dlq', requestId: id });
    expect(failed.context.origin).toBe('dlq');
  });

  test('a start says until when its lease holds, in milliseconds', async () => {
    const made = testEngine();
    await made.enqueue();
    await made.claimOne(LEASE);
    const started = (await translated(made.waybill)).at(-1)!;
    expect(started.properties).toMatchObject({ effectiveUntil: made.clock.now() + 10_000, workerId: 'w' });
  });

  test('a result of a later run is not told of an earlier one', async () => {
    const made = testEngine();
    const id = await made.enqueue();
    const complete = async (result: string) =>
      settle(made.waybill, await made.claimOne(LEASE), { kind: 'completed', result });
    await complete('first');
    await made.waybill.jobs.retry(id);
    await complete('second');
    const outputs = (await translated(made.waybill)).filter(({ eventType }) => eventType === 'Task Completed');
    expect(outputs.map(({ properties }) => properties['output'])).toEqual([undefined, 'second']);
  });
});

describe('what a job does', () => {
  test('it is a workflow, its tasks are nodes, and events of both name it', async () => {
    const made = testEngine();
    const { id } = await made.waybill.workflows.create(CHAIN);
    for (let at = 0; at < 2; at += 1)
      await settle(made.waybill, await made.claimOne(LEASE), { kind: 'completed', result: at });
    const events = await translated(made.waybill);
    const of = (name: string) =>
      events.filter(({ properties }) => properties.requestId === name).map(({ eventType }) => eventType);
    expect(of('fetch')).toEqual(['Task Pending', 'Task Processing Started', 'Task Completed']);
    expect(of('sum')).toEqual(['Task Waiting', 'Task Pending', 'Task Processing Started', 'Task Completed']);
    expect(new Set(events.map(({ properties }) => properties.jobId))).toEqual(new Set([id]));
    const [created, completed] = events.filter(({ entityType }) => entityType === 'JOB');
    expect(created).toMatchObject({
      ...{ eventType: 'Job Created', entityId: id },
      properties: {
        totalTasks: 2,
        tasks: [
          { taskId: 'fetch', name: 'page.fetch', dependsOn: [], input: { url: 'u' } },
          { taskId: 'sum', name: 'page.sum', dependsOn: ['fetch'] },
        ],
      },
    });
    const taskStatuses = { fetch: 'completed', sum: 'completed' };
    expect(completed).toMatchObject({ eventType: 'Job Completed', properties: { taskStatuses } });
  });

  test('a job that fails names the task, and the state of each', async () => {
    const made = testEngine();
    await made.waybill.workflows.create(CHAIN);
    await settle(made.waybill, await made.claimOne(LEASE), { kind: 'discarded', error: ERROR });
    const [, failed] = (await translated(made.waybill)).filter(({ entityType }) => entityType === 'JOB');
    expect(failed).toMatchObject({
      eventType: 'Job Failure Detected',
      properties: { failedTaskId: 'fetch', taskStatuses: { fetch: 'failed', sum: 'failed' } },
    });
  });

  test('a job that is resumed or cancelled is told too', async () => {
    const made = testEngine();
    const { id } = await made.waybill.workflows.create(CHAIN);
    await settle(made.waybill, await made.claimOne(LEASE), { kind: 'discarded', error: ERROR });
    await made.clock.advance(1);
    await made.waybill.workflows.resume(id);
    await made.waybill.workflows.cancel(id);
    const jobs = (await translated(made.waybill)).filter(({ entityType }) => entityType === 'JOB');
    expect(jobs.map(({ eventType }) => eventType)).toEqual([
      ...['Job Created', 'Job Failure Detected', 'Job Resumed', 'Job Cancelled'],
    ]);
  });
});

describe('a task that is reviewed', () => {
  test('is one task: submitted, revised, submitted again, approved, each with its iteration', async () => {
    const made = testEngine();
    const nodes = [
      { id: 'draft', type: 'text.draft', args: [], review: true },
      { id: 'print', type: 'text.print', args: [], depends_on: ['draft'] },
    ];
    const { id } = await made.waybill.workflows.create({ nodes });
    const run = async (result: string) => {
      await settle(made.waybill, await made.claimOne(LEASE), { kind: 'completed', result });
      await made.clock.advance(1);
    };
    await run('first');
    await made.waybill.workflows.requestRevision(id, 'draft', { feedback: 'More.' });
    await made.clock.advance(1);
    await run('second');
    await made.waybill.workflows.approve(id, 'draft', { comment: 'Good.' });
    await made.clock.advance(1);
    const events = (await translated(made.waybill)).filter(({ properties }) => properties.requestId === 'draft');
    const inOrder = [...events].sort((a, b) => (a.order < b.order ? -1 : 1));
    expect(inOrder.map(({ eventType, properties }) => [eventType, properties['iteration']])).toEqual([
      ['Task Pending', 1],
      ['Task Processing Started', 1],
      ['Task Iteration Completed', 1],
      ['Task Submitted For Review', 1],
      ['Task Revision Requested', 1],
      ['Task Pending', 2],
      ['Task Processing Started', 2],
      ['Task Iteration Completed', 2],
      ['Task Submitted For Review', 2],
      ['Task Approved', 2],
    ]);
    expect(new Set(events.map(({ gsi1pk }) => gsi1pk)).size).toBe(1);
    const submitted = events.filter(({ eventType }) => eventType === 'Task Submitted For Review');
    expect(submitted.map(({ properties }) => [properties['output'], properties['summary']])).toEqual([
      ['first', 'first'],
      ['second', 'second'],
    ]);
    const [revised] = events.filter(({ eventType }) => eventType === 'Task Revision Requested');
    expect(revised!.properties).toMatchObject({ feedback: 'More.', jobId: id });
    const [approved] = events.filter(({ eventType }) => eventType === 'Task Approved');
    expect(approved!.properties).toMatchObject({ comment: 'Good.', totalIterations: 2 });
    const [created] = (await translated(made.waybill)).filter(({ entityType }) => entityType === 'JOB');
    expect(created!.properties['tasks']).toMatchObject([
      { taskId: 'draft', dependsOn: [] },
      { taskId: 'print', dependsOn: ['draft'] },
    ]);
  });

  test('is not confused with the items of a map', async () => {
    const made = testEngine();
    const nodes = [
      { id: 'list', type: 'a.list', args: [] },
      { id: 'each', type: 'a.each', args: [], depends_on: ['list'], map: { over: { parent: 'list' } } },
    ];
    await made.waybill.workflows.create({ nodes });
    await settle(made.waybill, await made.claimOne(LEASE), { kind: 'completed', result: ['x', 'y'] });
    await made.clock.advance(1);
    await settle(made.waybill, await made.claimOne(LEASE), { kind: 'completed', result: 'X' });
    const done = (await translated(made.waybill)).filter(({ eventType }) => eventType === 'Task Completed');
    expect(done.map(({ properties }) => properties.requestId)).toEqual(['list', 'each[0]']);
  });
});

describe('keys', () => {
  const facts = {
    ...({ entityType: 'TASK', entityId: taskEntity({ jobId: 'j', taskId: 'task-1' }), tenantId: '' } as const),
    ...({ eventType: 'Task Pending', timestamp: 1_700_000_000_000, eventId: 'e', order: 'o', app: APP } as const),
  };

  test('of all seven indexes, for tasks and for jobs', () => {
    const at = 'TIMESTAMP#1700000000000#EVENT#o#e';
    expect(keysOf(facts)).toEqual({
      ...{ pk: 'TENANT#', sk: at },
      ...{ gsi1pk: 'TASK#j/task-1', gsi1sk: `TASK#${at}` },
      ...{ gsi2pk: 'APP#shop', gsi2sk: at },
      ...{ gsi3pk: 'APP#shop', gsi3sk: `TASK#j/task-1#${at}` },
      ...{ gsi4pk: 'EVENT#Task Pending', gsi4sk: `TENANT##${at}` },
      ...{ gsi5pk: 'EVENT#Task Pending', gsi5sk: `TENANT##TASK#j/task-1#${at}` },
      ...{ gsi6pk: 'EVENT#Task Pending', gsi6sk: `TENANT##APP#shop#${at}` },
      ...{ gsi7pk: 'EVENT#Task Pending', gsi7sk: `TENANT##APP#shop#TASK#j/task-1#${at}` },
    });
    const job = keysOf({ ...facts, entityType: 'JOB', entityId: 'j', tenantId: 'acme' });
    expect(job).toMatchObject({ pk: 'TENANT#acme', gsi1pk: 'JOB#acme@j', gsi1sk: `JOB#${at}` });
  });

  test('names that hold separators stay apart', () => {
    expect(taskEntity({ jobId: 'a', taskId: 'b/c' })).not.toBe(taskEntity({ jobId: 'a/b', taskId: 'c' }));
    const one = keysOf({ ...facts, tenantId: 'a#b' });
    expect(one.gsi4sk).toContain('TENANT#a%23b#');
    expect(keysOf({ ...facts, tenantId: 'a@b' }).gsi1pk).toBe('TASK#a%40b@j/task-1');
  });
});
