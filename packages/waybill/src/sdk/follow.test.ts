import { engine, silentLogger } from '@waybill/core';
import { memoryStore } from '@waybill/core/testing';
import { createApp, serve } from '@waybill/server';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Connection, connect } from './connect.ts';

/** A connection of each kind, and a job that has said one thing and runs. */
async function running(kind: 'sqlite' | 'http' | 'grpc', at?: number) {
  const waybill = engine({ store: memoryStore(), logger: silentLogger });
  const listening = await serve(createApp({ waybill, version: 'test', logger: silentLogger }), {
    ...{ port: 0, grpcPort: 0, graceMs: 1_000 },
  });
  const url = { sqlite: 'sqlite::memory:', http: listening.url, grpc: listening.grpcUrl! }[kind];
  const connection = await connect(url, { logger: silentLogger });
  onTestFinished(async () => {
    await connection.close();
    await listening.close();
    await waybill.close();
  });
  const { job } = await connection.jobs.enqueue({ type: 'x', args: [] });
  const [lease] = await connection.jobs.claim({ queues: ['default'] });
  const held = { id: job.id, leaseToken: lease!.token };
  await connection.jobs.append({ ...held, entries: [{ sequence: 1, type: 'step', data: 1, ...(at && { at }) }] });
  const end = () => connection.jobs.settle({ ...held, outcome: { kind: 'completed', result: null } });
  return { connection, job, end };
}

/** The same, and the job has ended. */
async function connected(kind: 'sqlite' | 'http' | 'grpc') {
  const { end, ...rest } = await running(kind);
  await end();
  return rest;
}

const sequences = async (items: ReturnType<Connection['jobs']['follow']>) => {
  const found: number[] = [];
  for await (const item of items) if (item.kind === 'entry') found.push(item.entry.sequence);
  return found;
};

describe.each(['sqlite', 'http', 'grpc'] as const)('follow over %s', (kind) => {
  test('needs no options, and takes a job or its id', async () => {
    const { connection, job } = await connected(kind);
    expect(await sequences(connection.jobs.follow(job.id))).toEqual([1]);
    expect(await sequences(connection.jobs.follow(job))).toEqual([1]);
    expect((await connection.jobs.journal(job)).entries).toHaveLength(1);
  });

  test.each([true, false])('tells once when all history has been taken, with lifecycle: %s', async (lifecycle) => {
    // The entry is older than the events, so the journal is read to its end before they are taken.
    const { connection, job, end } = await running(kind, 1_000);
    const order: string[] = [];
    const live = Promise.withResolvers<void>();
    const onLive = () => {
      order.push('live');
      live.resolve();
    };
    const following = (async () => {
      for await (const item of connection.jobs.follow(job, { lifecycle, onLive }))
        order.push(item.kind === 'entry' ? item.entry.type : item.event.type);
    })();
    await live.promise;
    await end();
    await following;
    const events = lifecycle ? ['job.enqueued', 'job.started'] : [];
    expect(order).toEqual(['step', ...events, 'live', ...(lifecycle ? ['job.completed'] : [])]);
  });

  test.each([
    ['types', 'output'],
    ['fromSequence', '3'],
    ['fromTime', 'yesterday'],
    ['fromTime', new Date(0)],
    ['signal', new AbortController()],
    ['lifecycle', 'yes'],
    ['stay', 1],
    ['limit', 3],
  ])('refuses %s: %o by its name, before anything is sent', async (name, value) => {
    const { connection, job } = await connected(kind);
    const call = async () => sequences(connection.jobs.follow(job.id, { [name]: value } as never));
    await expect(call()).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining(`'${name}'`),
    });
  });
});
