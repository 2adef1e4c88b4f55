import { dynamoStore } from '@waybill/aws/dynamodb';
import { answered, FaultyProxy, hasJava, localClient, startLocalDynamo } from '@waybill/aws/testing';
import { engine } from '@waybill/core';
import { TestClock } from '@waybill/core/testing';
import { createApp, serve } from '@waybill/server';
import { expect, onTestFinished, test } from 'vitest';

const canRun = hasJava || process.env['CI'] === 'true';
/** Tells a hang from an answer. */
const HANGS_MS = 20_000;

test.skipIf(!canRun)(
  'B1, E1: /ready answers 503 in time while DynamoDB swallows whatever is sent (skipped: needs Java 17)',
  async () => {
    const local = await startLocalDynamo();
    onTestFinished(() => local.stop());
    const proxy = await FaultyProxy.start(local.endpoint);
    onTestFinished(() => proxy.close());
    // A client without timeouts: the check has a bound of its own.
    const client = localClient(proxy.endpoint);
    onTestFinished(() => client.destroy());
    const clock = new TestClock();
    const store = await dynamoStore({ table: 'ready', client, clock });
    const waybill = engine({ store, maintenance: false });
    const listening = await serve(createApp({ waybill, version: '0.0.0', clock }), { port: 0 });
    onTestFinished(() => listening.close());
    const ready = async () => {
      const answer = await fetch(new URL('/ready', listening.url));
      return { status: answer.status, body: await answer.json() };
    };
    expect(await ready()).toEqual({ status: 200, body: { status: 'ready' } });
    // Longer than an answer is good for.
    await clock.advance(10_000);
    proxy.mode = 'swallow';
    const [swallowed, asked] = [proxy.swallows(), ready()];
    await swallowed;
    await clock.advance(6_000);
    const reason = 'dynamodb did not answer within 6 seconds.';
    expect(await answered(asked, HANGS_MS)).toEqual({ status: 503, body: { status: 'unavailable', reason } });
  },
  90_000,
);
