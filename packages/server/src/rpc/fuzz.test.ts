import { expect, test } from 'vitest';
import { harness } from '../testing/harness.ts';
import { fuzzBodies } from '../testing/rpc-fuzz.ts';
import { fuzzStreams, fuzzTokens } from '../testing/rpc-stream-fuzz.ts';

test('500 bodies that chance has made end in answers or clean errors', () => fuzzBodies(500));

test('500 streams that chance has made end cleanly, and leave no job behind', () => fuzzStreams(500));

test('300 task tokens that chance has made are refused', () => fuzzTokens(300));

test('JSON that is nested without end, and numbers that are none, are refused', async () => {
  const { app } = harness();
  const send = (text: string) =>
    app.request('/waybill.v1.JobService/EnqueueJob', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: `{"type":"x","args":${text}}`,
    });
  for (const args of [
    '['.repeat(5_000) + ']'.repeat(5_000),
    '[1e999]',
    '["a"',
    '{"a":1}',
    `${'[{"a":'.repeat(80)}1${'}]'.repeat(80)}`,
  ])
    expect(await (await send(args)).json(), args.slice(0, 20)).toMatchObject({ code: 'invalid_argument' });
});
