import { readFileSync } from 'node:fs';
import { engine, type LoggedEvent, silentLogger } from '@waybill/core';
import { aJob, settleChange, TestClock } from '@waybill/core/testing';
import type { Context, DynamoDBRecord, DynamoDBStreamHandler } from 'aws-lambda';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fits } from '../cloud/event-pattern.ts';
import { confirmedBy } from '../dynamodb/keys.ts';
import { dynamoStore } from '../dynamodb/store.ts';
import { canRun, useLocalDynamo } from '../dynamodb/testing/bench.ts';
import { TableStream } from '../dynamodb/testing/table-stream.ts';
import { denied, refusing } from '../testing/denying.ts';
import { type EventStreamOptions, eventStreamHandler } from './event-stream-handler.ts';

const DAY_MS = 86_400_000;
const COMPLETED = { kind: 'completed', result: null } as const;

describe.skipIf(!canRun)('a function at the stream of the table (skipped: needs Java 17)', () => {
  const local = useLocalDynamo();

  /** An engine on a table, and a function at the stream of this table. */
  async function open(options: Partial<EventStreamOptions> = {}) {
    const [clock, table] = [new TestClock(), local.newTable()];
    const { store, close } = await local.open({ clock, table });
    const { jobs, queues } = engine({ store, maintenance: false, logger: silentLogger });
    onTestFinished(close);
    const stream = new TableStream(local.client(), local.endpoint(), table);
    const told: LoggedEvent[][] = [];
    const handler = eventStreamHandler({
      logger: silentLogger,
      open: async () => ({ store }),
      onEvents: async (events) => told.push(events),
      ...options,
    });
    const work = async (count: number) => {
      const request = { type: 'mail.send', args: [], options: { queue: 'mails' } };
      await jobs.enqueueMany(Array.from({ length: count }, () => request));
      const leases = await jobs.claim({ queues: ['mails'], count, leaseMs: 30_000 });
      for (const { job, token } of leases) await jobs.settle({ id: job.id, leaseToken: token, outcome: COMPLETED });
    };
    const logged = async () => (await store.events.read({ filter: { tenant: '*' }, limit: 1_000 })).events;
    return { table, store, clock, jobs, queues, stream, told, handler, work, logged };
  }

  it('it is a handler of DynamoDB streams', async () => {
    const handler: DynamoDBStreamHandler = (await open()).handler;
    expect(await handler({ Records: [] }, {} as Context, () => {})).toEqual({ batchItemFailures: [] });
  });

  it('what the engine does arrives as the events of the log, in order', async () => {
    const { handler, stream, told, work, logged } = await open();
    await work(3);
    expect(await handler({ Records: await stream.read() })).toEqual({ batchItemFailures: [] });
    const events = told.flat();
    expect(events).toEqual(await logged());
    expect(events.map(({ type }) => type)).toEqual([
      ...Array(3).fill('job.enqueued'),
      ...Array(3).fill('job.started'),
      ...Array(3).fill('job.completed'),
    ]);
  });

  it('what is told of subjects arrives too, beside the events of jobs', async () => {
    const { handler, stream, told, work, queues, store, clock, logged } = await open();
    await queues.pause('mails');
    await queues.pause('mails');
    await queues.resume('mails');
    await work(1);
    await store.events.tell([{ type: 'key.opened', tenant: 'acme', subject: 'i-1', at: clock.now(), data: {} }]);
    expect(await handler({ Records: await stream.read() })).toEqual({ batchItemFailures: [] });
    expect(told.flat()).toEqual(await logged());
    const namesOf = ({ type, subject, queue, sequence }: LoggedEvent) => `${type} ${subject ?? queue} ${sequence}`;
    expect(told.flat().map(namesOf)).toEqual([
      'queue.paused mails 1',
      'queue.resumed mails 2',
      'job.enqueued mails 1',
      'job.started mails 2',
      'job.completed mails 3',
      'key.opened i-1 1',
    ]);
  });

  it('a change that was lost is not told', async () => {
    const { store, clock, jobs, handler, stream, told, logged } = await open();
    const request = { type: 'mail.send', args: [], options: { queue: 'mails' } };
    await jobs.enqueueMany([request, request]);
    const [mine, stolen] = await jobs.claim({ queues: ['mails'], count: 2, leaseMs: 30_000 });
    await jobs.settle({ id: stolen!.job.id, leaseToken: stolen!.token, outcome: COMPLETED });
    const late = settleChange(stolen!.job, { kind: 'requeued' }, clock.now());
    const answers = await store.apply([late, settleChange(mine!.job, COMPLETED, clock.now())]);
    const alone = await store.apply([late]);
    expect([answers, alone].flat().map(({ status }) => status)).toEqual(['lost', 'applied', 'lost']);
    const records = await stream.read();
    const lost = confirmations(records).map(({ dynamodb }) => dynamodb?.NewImage?.['no']?.S);
    expect(lost).toEqual([undefined, undefined, undefined, '0', '0']);
    expect(await handler({ Records: records })).toEqual({ batchItemFailures: [] });
    expect(told.slice(2).map((events) => events.map(({ type, jobId }) => [type, jobId]))).toEqual([
      [['job.completed', stolen!.job.id]],
      [['job.completed', mine!.job.id]],
    ]);
    expect(told.flat()).toEqual(await logged());
  });

  it('what a writer did who died before he confirmed it is told when somebody has read the log', async () => {
    const { table, clock, handler, stream, told, logged } = await open();
    const client = refusing(local.client(), (command, input) => {
      const { pk, sk } = (input['Item'] ?? {}) as Record<string, { S: string }>;
      const isConfirmation = command === 'PutItem' && confirmedBy({ pk: pk!.S, sk: sk!.S }) !== null;
      return isConfirmation ? denied('dynamodb:PutItem', table) : undefined;
    });
    const dying = await dynamoStore({ client, table, clock });
    await expect(dying.insert([{ jobs: [aJob({ createdAt: clock.now() })] }])).rejects.toThrow('not authorized');
    await handler({ Records: await stream.read() });
    expect(told).toEqual([]);
    // The log waits from the moment on when somebody sees that it is not confirmed.
    expect(await logged()).toEqual([]);
    await clock.advance(dying.capabilities.eventLagMs);
    const events = await logged();
    expect(events.map(({ type }) => type)).toEqual(['job.enqueued']);
    await handler({ Records: await stream.read() });
    expect(told).toEqual([events]);
  });

  it('a sink that fails gets the batch again from its record, and nothing is left out', async () => {
    const told: LoggedEvent[] = [];
    let calls = 0;
    const { handler, stream, work, logged } = await open({
      onEvents: async (events) => {
        calls += 1;
        if (calls === 3) throw new Error('the sink is away');
        told.push(...events);
      },
    });
    await work(2);
    const records = await stream.read();
    const failed = confirmations(records)[2]!.dynamodb!.SequenceNumber!;
    expect(await handler({ Records: records })).toEqual({ batchItemFailures: [{ itemIdentifier: failed }] });
    expect(calls).toBe(3);
    const rest = records.slice(records.findIndex(({ dynamodb }) => dynamodb?.SequenceNumber === failed));
    expect(await handler({ Records: rest })).toEqual({ batchItemFailures: [] });
    expect(told).toEqual(await logged());
  });

  it('rows, segments, changes and removals are passed over without a look at the store', async () => {
    let opened = 0;
    const refuse = async () => {
      opened += 1;
      throw new Error('away');
    };
    const { handler, stream, work } = await open({ open: refuse });
    await work(2);
    const records = await stream.read();
    const confirmed = confirmations(records);
    const removed = confirmed.map((record) => ({ ...record, eventName: 'REMOVE' as const }));
    const others = records.filter((record) => !confirmed.includes(record));
    expect(new Set(others.map(({ eventName }) => eventName))).toEqual(new Set(['INSERT', 'MODIFY']));
    expect(await handler({ Records: [...others, ...removed] })).toEqual({ batchItemFailures: [] });
    expect(opened).toBe(0);
    const first = confirmed[0]!.dynamodb!.SequenceNumber!;
    const again = { batchItemFailures: [{ itemIdentifier: first }] };
    expect([await handler({ Records: records }), await handler({ Records: records })]).toEqual([again, again]);
    expect(opened).toBe(2);
  });

  it('the filter of docs/aws.md lets the log through, and no row', async () => {
    const page = readFileSync(new URL('../../../../docs/aws.md', import.meta.url), 'utf8');
    const filter: unknown = JSON.parse(/^\{ "dynamodb": .*$/m.exec(page)![0]);
    const { stream, work } = await open();
    await work(2);
    const records = await stream.read();
    const passed = records.filter((record) => fits(filter, record));
    const confirmed = confirmations(records);
    expect(confirmations(passed)).toEqual(confirmed);
    // Each confirmation comes with its segment.
    expect(passed).toHaveLength(2 * confirmed.length);
    expect(records.length).toBeGreaterThan(passed.length);
  });

  it('what has expired meanwhile is noted and passed over', async () => {
    const warnings: object[] = [];
    const logger = { ...silentLogger, warn: (fields: object) => void warnings.push(fields) };
    const { handler, stream, told, work, clock } = await open({ logger });
    await work(1);
    const records = await stream.read();
    await clock.advance(400 * DAY_MS);
    expect(await handler({ Records: records })).toEqual({ batchItemFailures: [] });
    expect(told).toEqual([]);
    expect(warnings).toEqual(confirmations(records).map((_, index) => ({ position: index + 1 })));
  });
});

/** The records that tell of a confirmed segment. */
const confirmations = (records: readonly DynamoDBRecord[]): DynamoDBRecord[] =>
  records.filter(({ dynamodb }) => {
    const { pk, sk } = dynamodb?.Keys ?? {};
    return confirmedBy({ pk: pk?.S ?? '', sk: sk?.S ?? '' }) !== null;
  });
