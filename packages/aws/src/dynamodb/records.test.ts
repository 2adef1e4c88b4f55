import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { EXPIRED_KEPT_MS } from '@waybill/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { toAttributes } from './items.ts';
import { recordKey } from './keys.ts';
import { canRun, useLocalDynamo } from './testing/bench.ts';
import { FaultyClient } from './testing/faulty-client.ts';

const KEY = { tenant: '', kind: 'note', id: 'n' };

describe.skipIf(!canRun)('records and locks on DynamoDB (skipped: needs Java 17)', () => {
  const local = useLocalDynamo();

  async function open() {
    const client = new FaultyClient(local.client());
    const table = local.newTable();
    const opened = await local.open({ client, table });
    onTestFinished(opened.close);
    const stored = async (id: string) => {
      const request = { TableName: table, Key: toAttributes(recordKey({ ...KEY, id })), ConsistentRead: true };
      return (await local.client().send(new GetItemCommand(request))).Item;
    };
    return { ...opened, client, stored };
  }

  it('a call whose answer was lost is made again, and tells what it has done', async () => {
    const { store, client } = await open();
    const { records, locks } = store;
    // Every request is made twice: the first answer is lost.
    client.faults = { loseEvery: 2 };
    if (client.requests.length % 2 === 0) await store.ping();
    const before = client.requests.length;
    const [made] = await records.put([{ ...KEY, value: { n: 1 }, expected: 0 }]);
    expect(made).toMatchObject({ status: 'stored', record: { value: { n: 1 } } });
    const [replaced] = await records.put([{ ...KEY, value: { n: 2 }, expected: made!.record!.version }]);
    expect(replaced).toMatchObject({ status: 'stored', record: { value: { n: 2 } } });
    expect(await records.get([KEY])).toEqual([replaced!.record]);
    expect(await records.remove(KEY, replaced!.record!.version)).toEqual({ status: 'removed' });
    const lease = { name: 'l', owner: 'o', leaseMs: 1000 };
    expect(await locks.take(lease)).toMatchObject({ status: 'held', fence: 1 });
    expect(await locks.release({ ...lease, fence: 1 })).toBe(true);
    expect(await locks.take(lease)).toMatchObject({ status: 'held', fence: 2 });
    expect(client.requests.length - before).toBe(2 * 10);
  });

  it('a removed record leaves no value behind; its item goes by TTL a day later, one that lives has no TTL', async () => {
    const { store, clock, stored } = await open();
    const put = (id: string, expiresAt: number | null, expected = 0) =>
      store.records.put([{ ...KEY, id, value: {}, expected, expiresAt }]);
    const seconds = (moment: number) => ({ N: String(Math.ceil(moment / 1000)) });
    const expiresAt = clock.now() + 60_000;
    const [expiring] = await put('expires', expiresAt);
    await put('removed', null);
    await put('stays', null);
    await store.records.remove({ ...KEY, id: 'removed' });
    expect((await stored('expires'))!['x']).toEqual(seconds(expiresAt + EXPIRED_KEPT_MS));
    expect(await stored('removed')).toMatchObject({ x: seconds(clock.now() + EXPIRED_KEPT_MS) });
    expect(await stored('removed')).not.toHaveProperty('va');
    expect(await stored('stays')).not.toHaveProperty('x');
    await put('removed', null);
    await put('expires', null, expiring!.record!.version);
    for (const id of ['removed', 'expires']) expect(await stored(id)).not.toHaveProperty('x');
  });
});
