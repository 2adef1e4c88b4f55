import { ERROR_TABLE } from '@waybill/client';
import { ERROR_CODES } from '@waybill/core';
import { expect, test } from 'vitest';
import { harness } from '../testing/harness.ts';
import { RawClient } from '../testing/raw-client.ts';
import { socketServer } from '../testing/socket-server.ts';

test('D18: docs_url of a refusal leads to what the server knows about that error', async () => {
  const { url } = await socketServer();
  for (const path of ['/ojs/v1/jobs/no-id', '/nowhere']) {
    const { error } = (await (await fetch(url + path)).json()) as { error: { code: string; docs_url: string } };
    expect(error.docs_url).toBe(`${url}/ojs/errors/${error.code}`);
    const page = await fetch(error.docs_url);
    expect([page.status, await page.json()]).toMatchObject([200, { error: { code: error.code } }]);
  }
});

test('D18: what is refused before it is a request names the page by its path', async () => {
  const { url } = await socketServer();
  const client = await RawClient.connect(url);
  client.send('this is not HTTP\r\n\r\n');
  await client.closed;
  expect(client.received).toContain('"docs_url":"/ojs/errors/invalid_request"');
});

test.each(ERROR_CODES)('D18: there is a page about %s', async (code) => {
  const { get } = harness();
  const { status, body } = await get(`/ojs/errors/${code}`);
  const { status: answered, hint } = ERROR_TABLE[code];
  expect(status).toBe(200);
  expect(body.error).toEqual({ code, status: answered, retryable: expect.any(Boolean), hint });
});

test('D18: a code that no error has is not found', async () => {
  const { get } = harness();
  for (const code of ['nonsense', 'constructor', 'a'.repeat(1_000)])
    expect((await get(`/ojs/errors/${code}`)).status).toBe(404);
});
