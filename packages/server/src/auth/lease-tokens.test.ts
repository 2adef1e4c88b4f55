import { expect, test } from 'vitest';
import { createApp } from '../app.ts';
import { harness } from '../testing/harness.ts';

const SECRET = 'a secret of more than thirty-two bytes';

const keyed = async (options: Parameters<typeof harness>[0] = {}) => {
  const server = harness({ auth: {}, ...options });
  const { secret } = await server.waybill.keys!.create({ name: 'all', scopes: ['enqueue', 'work', 'read'] });
  const headers = { 'X-API-Key': secret };
  const claimed = async () => {
    await server.post('/ojs/v1/jobs', { type: 'test.job', args: [] }, headers);
    const { body } = await server.post('/ojs/v1/workers/fetch', { queues: ['default'] }, headers);
    return { id: body.jobs[0].id as string, token: body.jobs[0].lease_token as string };
  };
  const ack = (id: string, token: string) =>
    server.post('/ojs/v1/workers/ack', { job_id: id, lease_token: token }, headers);
  return { ...server, headers, claimed, ack };
};

test('a server that asks for keys signs its lease tokens, and takes no others', async () => {
  const { claimed, ack } = await keyed();
  const [one, two] = [await claimed(), await claimed()];
  expect(one.token).toMatch(/^wt1\./);
  const wrong = [`${one.token.slice(0, -1)}_`, two.token, '1.made-up', 'x'];
  for (const token of wrong) {
    const { status, body } = await ack(one.id, token);
    expect([status, body.error.code, body.error.details.field]).toEqual([400, 'invalid_request', 'lease_token']);
  }
  expect((await ack(one.id, one.token)).status).toBe(200);
  expect((await ack(two.id, two.token)).status).toBe(200);
});

test('every server of a store takes the tokens of the others', async () => {
  const { claimed, waybill, clock, headers } = await keyed();
  const { id, token } = await claimed();
  const replica = createApp({ waybill, clock, auth: {}, version: '0' });
  const answer = await replica.request('/ojs/v1/workers/ack', {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify({ job_id: id, lease_token: token }),
  });
  expect(answer.status).toBe(200);
});

test('a secret of its own signs also where nobody shows a key; without one tokens stay as they are', async () => {
  const plain = harness();
  await plain.enqueued();
  expect((await plain.fetched()).lease_token).not.toMatch(/^wt1\./);
  const signed = harness({ leaseTokens: { secret: SECRET } });
  await signed.enqueued();
  const { id, lease_token } = await signed.fetched();
  expect(lease_token).toMatch(/^wt1\./);
  expect((await signed.post('/ojs/v1/workers/ack', { job_id: id, lease_token })).status).toBe(200);
  expect((await keyed({ leaseTokens: false }).then(({ claimed }) => claimed())).token).not.toMatch(/^wt1\./);
});

test('wrong options are refused when the app is made', () => {
  expect(() => harness({ leaseTokens: { secret: 'short' } })).toThrow(/at least 32 bytes/);
  expect(() => harness({ leaseTokens: { secert: SECRET } as never })).toThrow(/secret/);
  expect(() => harness({ leaseTokens: 'yes' as never })).toThrow(/leaseTokens/);
});
