import { DeleteTableCommand } from '@aws-sdk/client-dynamodb';
import { engine, silentLogger, systemClock, type Waybill } from '@waybill/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { dynamoStore } from './store.ts';
import { canRun, useLocalDynamo } from './testing/bench.ts';

const COMPLETED = { kind: 'completed', result: null } as const;

/** By real time: DynamoDB tells a process nothing of what others write, so followers look for it now and then. */
describe.skipIf(!canRun)('following a journal on DynamoDB (skipped: needs Java 17)', () => {
  const local = useLocalDynamo();

  async function processes(count: number): Promise<Waybill[]> {
    const table = local.newTable();
    const client = local.client();
    const made: Waybill[] = [];
    for (let n = 0; n < count; n++) {
      const store = await dynamoStore({ client, table, logger: silentLogger, clock: systemClock });
      made.push(engine({ store, logger: silentLogger, maintenance: false }));
    }
    onTestFinished(async () => {
      for (const one of made) await one.close();
      await client.send(new DeleteTableCommand({ TableName: table }));
    });
    return made;
  }

  it('a follower in another process gets all entries once and in order, and ends with the job', async () => {
    const [writer, reader] = (await processes(2)) as [Waybill, Waybill];
    const { job } = await writer.jobs.enqueue({ type: 'a.b', args: [] });
    const [lease] = await writer.jobs.claim({ queues: ['default'] });
    const held = { id: job.id, leaseToken: lease!.token };
    const say = (from: number, to: number) => {
      const sequences = Array.from({ length: to - from + 1 }, (_, index) => from + index);
      const entries = sequences.map((sequence) => ({ sequence, type: 'metric', data: { sequence } }));
      return writer.jobs.append({ ...held, entries });
    };
    await say(1, 3);
    const heard: number[] = [];
    let waiting = { for: 3, ...Promise.withResolvers<void>() };
    const { signal } = new AbortController();
    const following = (async () => {
      for await (const said of reader.jobs.follow(job.id, { signal })) {
        if (said.kind === 'entry') heard.push(said.entry.sequence);
        if (heard.length >= waiting.for) waiting.resolve();
      }
    })();
    await waiting.promise;
    waiting = { for: 10, ...Promise.withResolvers<void>() };
    await say(4, 10);
    await waiting.promise;
    await say(11, 12);
    await writer.jobs.settle({ ...held, outcome: COMPLETED });
    await following;
    expect(heard).toEqual(Array.from({ length: 12 }, (_, index) => index + 1));
    await expect(say(13, 13)).rejects.toMatchObject({ code: 'lease_lost' });
  });
});
