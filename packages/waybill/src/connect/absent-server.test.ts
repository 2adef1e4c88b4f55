import { type Logger, silentLogger } from '@waybill/core';
import { expect, onTestFinished, test } from 'vitest';
import { connect } from '../sdk/connect.ts';

/** Nothing listens there. */
const ABSENT = 'http://127.0.0.1:1';

test('D12: following an absent server is told through the logger of the connection', async () => {
  const told = Promise.withResolvers<[object, string]>();
  // Beside it, the connection itself tells that its server is away.
  const isOfStream = (message: string) => message.startsWith('The stream');
  const logger: Logger = { ...silentLogger, warn: (...line) => isOfStream(line[1]) && told.resolve(line) };
  const waybill = await connect(ABSENT, { logger, headers: { Authorization: 'Bearer s3cret' } });
  onTestFinished(() => waybill.close());
  const stop = new AbortController();
  const next = waybill.events.follow({ signal: stop.signal })[Symbol.asyncIterator]().next();
  const [fields, message] = await told.promise;
  expect(message).toBe(`The stream of events from ${ABSENT} was interrupted. Trying again until the server answers.`);
  expect(fields).toMatchObject({ server: ABSENT, err: { code: 'unavailable' } });
  expect(message + JSON.stringify(fields)).not.toContain('s3cret');
  stop.abort();
  expect(await next).toEqual({ done: true, value: undefined });
});

test('D12: waiting for a job of an absent server is refused, and the refusal names the server', async () => {
  const waybill = await connect(ABSENT, { logger: silentLogger });
  onTestFinished(() => waybill.close());
  await expect(waybill.wait('01a1e4ae-a55c-74ee-8d26-dc2e3a61332a')).rejects.toMatchObject({
    code: 'unavailable',
    retryable: true,
    message: expect.stringContaining(ABSENT),
  });
});
