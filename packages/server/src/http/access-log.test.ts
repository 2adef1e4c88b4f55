import { silentLogger } from '@waybill/core';
import { expect, test } from 'vitest';
import { harness } from '../testing/harness.ts';
import { socketServer } from '../testing/socket-server.ts';

const SECRET = 'wb_secret';

test('each request is one line at the level debug, without anything that may be secret', async () => {
  const server = harness({ accessLog: true, principal: () => ({ id: 'k1', tenant: '', scopes: ['admin'] }) });
  const { id } = await server.enqueued();
  await server.get(`/ojs/v1/jobs/${id}?token=${SECRET}`, { Authorization: `Bearer ${SECRET}`, 'X-Request-Id': 'mine' });
  await server.get('/ojs/v1/jobs/0197-no-id');
  await server.get('/nothing');
  await server.get('/health');
  const lines = server.log.map(({ level, message, fields }) => ({ level, message, ...fields }));
  const line = {
    level: 'debug',
    message: expect.stringMatching(/^Answered [A-Z]+ [*/]\S* with \d{3}\.$/),
    method: 'GET',
    ms: expect.any(Number),
  };
  expect(lines).toEqual([
    { ...line, method: 'POST', route: '/ojs/v1/jobs', status: 201, request_id: expect.any(String), principal: 'k1' },
    { ...line, route: '/ojs/v1/jobs/:id', status: 200, request_id: 'mine', principal: 'k1' },
    { ...line, route: '/ojs/v1/jobs/:id', status: 400, request_id: expect.any(String), principal: 'k1' },
    { ...line, route: '*', status: 404, request_id: expect.any(String), principal: 'k1' },
    { ...line, route: '/health', status: 200, request_id: expect.any(String) },
  ]);
  expect(JSON.stringify(lines)).not.toContain(SECRET);
  expect(JSON.stringify(lines)).not.toContain(id);
});

test('without being asked for nothing is logged', async () => {
  const server = harness();
  await server.enqueued();
  expect(server.log).toEqual([]);
});

test('the line has the address of the client, as far as proxies are believed', async () => {
  for (const [trustProxy, address] of [
    [false, '127.0.0.1'],
    [true, '203.0.113.7'],
  ] as const) {
    const lines: Record<string, unknown>[] = [];
    const logger = { ...silentLogger, debug: (fields: object) => void lines.push({ ...fields }) };
    const { url } = await socketServer({ trustProxy }, { accessLog: true, logger });
    await (await fetch(`${url}/health`, { headers: { 'X-Forwarded-For': '203.0.113.7' } })).text();
    expect(lines).toMatchObject([{ route: '/health', address }]);
  }
});
