import { type Engine, silentLogger } from '@waybill/core';
import { memoryStore, memoryTransport, TestClock } from '@waybill/core/testing';
import { createApp, createTasksApp } from '@waybill/server';
import type { APIGatewayProxyEvent, APIGatewayProxyEventV2, Context } from 'aws-lambda';
import { describe, expect, test } from 'vitest';
import { type ApiHandlerOptions, apiHandler } from './api-handler.ts';

const CONTEXT = { getRemainingTimeInMillis: () => 30_000 };

const v2 = (method: string, path: string, body?: unknown, query = ''): APIGatewayProxyEventV2 =>
  ({
    ...{ version: '2.0', rawPath: path, rawQueryString: query, isBase64Encoded: body !== undefined },
    headers: { host: 'api.example', 'content-type': 'application/json', 'x-request-id': 'r-1' },
    ...(body !== undefined && { body: Buffer.from(JSON.stringify(body)).toString('base64') }),
    requestContext: { domainName: 'api.example', http: { method, path, sourceIp: '192.0.2.1' } },
  }) as never;

const v1 = (method: string, path: string, body?: unknown, query: Record<string, string[]> = {}): APIGatewayProxyEvent =>
  ({
    ...{ httpMethod: method, path, isBase64Encoded: false, body: body === undefined ? null : JSON.stringify(body) },
    multiValueHeaders: { Host: ['api.example'], 'Content-Type': ['application/json'] },
    multiValueQueryStringParameters: query,
    requestContext: { domainName: 'api.example', identity: { sourceIp: '192.0.2.1' } },
  }) as never;

function api(over: Partial<ApiHandlerOptions> = {}) {
  const clock = new TestClock();
  const store = memoryStore({ clock });
  const inner = memoryTransport({ clock });
  let sent = 0;
  const transport: typeof inner = {
    ...inner,
    send: async (hints) => {
      // Later than the answer would be, were it not waited for.
      await new Promise((resolve) => setImmediate(resolve));
      sent += hints.length;
      await inner.send(hints);
    },
  };
  const app = (waybill: Engine) => createApp({ waybill, clock, version: '0', logger: silentLogger });
  const open = async () => ({ store, transport });
  return { handler: apiHandler({ open, app, logger: silentLogger, noAuth: true, ...over }), sent: () => sent };
}

describe('the API as a function', () => {
  test.each([
    ['an HTTP API or a function URL', v2],
    ['a REST API', v1],
  ] as const)('behind %s takes jobs and shows them', async (_, event) => {
    const { handler, sent } = api();
    const made = await handler(event('POST', '/ojs/v1/jobs', { type: 'mail.send', args: ['é'] }), CONTEXT);
    expect(made).toMatchObject({ statusCode: 201, isBase64Encoded: false });
    // A function is frozen when it has answered.
    expect(sent()).toBe(1);
    const { job } = JSON.parse(made.body);
    const shown = await handler(event('GET', `/ojs/v1/jobs/${job.id}`), CONTEXT);
    expect(JSON.parse(shown.body).job).toMatchObject({ id: job.id, args: ['é'] });
    expect(shown.headers ?? shown.multiValueHeaders).toHaveProperty('content-type');
  });

  test('is the producer API alone, where the caller makes that app', async () => {
    const app = (waybill: Engine) => createTasksApp({ waybill, version: '0', logger: silentLogger });
    const { handler, sent } = api({ app });
    const tasks = [{ taskId: 'a', name: 'A', type: 'mail.send' }];
    const made = await handler(v2('POST', '/jobs', { tasks }), CONTEXT);
    expect([made.statusCode, sent()]).toEqual([201, 1]);
    const shown = await handler(v1('GET', `/jobs/${JSON.parse(made.body).jobId}`), CONTEXT);
    expect(JSON.parse(shown.body).tasks).toMatchObject([{ taskId: 'a', status: 'pending' }]);
  });

  test('queries arrive as they were sent', async () => {
    const { handler } = api();
    const refused = [
      await handler(v2('GET', '/ojs/v1/events', undefined, 'limit=0'), CONTEXT),
      await handler(v1('GET', '/ojs/v1/events', undefined, { limit: ['0'] }), CONTEXT),
    ];
    for (const { statusCode, body } of refused) {
      expect(statusCode).toBeGreaterThanOrEqual(400);
      expect(body).toContain('limit');
    }
  });

  test('refuses to serve strangers, unless it is told to', async () => {
    const { handler } = api({ noAuth: false });
    await expect(handler(v2('GET', '/ojs/v1/jobs'), CONTEXT)).rejects.toMatchObject({ code: 'forbidden' });
  });

  test('is a handler of API Gateway', () => {
    const handler: (event: APIGatewayProxyEventV2, context: Context) => Promise<{ statusCode: number }> = api().handler;
    expect(handler).toBeInstanceOf(Function);
  });
});
