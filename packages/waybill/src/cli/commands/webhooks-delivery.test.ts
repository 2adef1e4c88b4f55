import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { silentLogger } from '@waybill/core';
import { expect, onTestFinished, test } from 'vitest';
import { verifyWebhook } from '../../sdk/verify-webhook.ts';
import { startHost } from '../host.ts';
import { Terminal } from '../testing/terminal.ts';

interface Delivery {
  headers: IncomingHttpHeaders;
  body: string;
}

/** A receiver on loopback that keeps what it gets. */
async function receiver() {
  const got: Delivery[] = [];
  const state = { status: 204 };
  let onGot: () => void = () => {};
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    got.push({ headers: request.headers, body });
    response.writeHead(state.status).end(() => onGot());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  /** The delivery with this number, from 1. */
  const nth = async (count: number): Promise<Delivery> => {
    while (got.length < count) await new Promise<void>((resolve) => (onGot = resolve));
    return got[count - 1]!;
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`, got, state, nth };
}

/** A server that delivers, and the command that speaks to it. */
async function served(store = 'sqlite::memory:'): Promise<Terminal> {
  const serve = { host: '127.0.0.1', port: 0, portGiven: true, noAuth: false, requireLease: false, allowedHosts: [] };
  const parts = { store, transport: 'poll', blobs: undefined, webhookTargets: { allowPrivate: true, targets: [] } };
  const host = await startHost({ ...serve, ...parts }, silentLogger);
  onTestFinished(() => host.drain());
  const terminal = new Terminal(host.url);
  terminal.now = Date.now();
  return terminal;
}

async function created(terminal: Terminal, ...args: string[]): Promise<{ id: string; secret: string }> {
  const { webhook, secret } = (await terminal.json('webhooks', 'create', ...args)) as {
    webhook: { id: string };
    secret: string;
  };
  return { id: webhook.id, secret };
}

const idsOf = (deliveries: readonly Delivery[]) => deliveries.map(({ headers }) => String(headers['webhook-id']));

/** Asks until it is so: the server writes its state after it has read the answer. */
async function stateOf(terminal: Terminal, id: string, status: string): Promise<Record<string, unknown>> {
  for (;;) {
    const { webhook } = (await terminal.json('webhooks', 'show', id)) as {
      webhook: { state: Record<string, unknown> };
    };
    if (webhook.state['status'] === status) return webhook.state;
  }
}

test('events are delivered, and the receiver can check them by the secret that was printed', async () => {
  const [terminal, { url, nth, got }] = [await served(), await receiver()];
  const { secret } = await created(terminal, url, '--events', 'job.enqueued', '--queues', 'mail');
  await terminal.run('enqueue', 'a.b', '--queue', 'other');
  await terminal.run('enqueue', 'mail.send', '--queue', 'mail');
  const { headers, body } = await nth(1);
  const event = verifyWebhook(headers, body, secret);
  expect(event).toMatchObject({ type: 'job.enqueued', data: { job_type: 'mail.send', queue: 'mail' } });
  expect(headers).toMatchObject({
    'webhook-id': event.id,
    'content-type': expect.stringContaining('cloudevents+json'),
  });
  expect(() => verifyWebhook(headers, body.replace('mail', 'male'), secret)).toThrow('No signature');
  expect(got).toHaveLength(1);
});

test('one event, or all since a moment, are sent again under the same ids', async () => {
  const [terminal, { url, nth, got }] = [await served(), await receiver()];
  const { id } = await created(terminal, url, '--events', 'job.enqueued');
  await terminal.run('enqueue', 'a.b');
  await nth(1);
  await terminal.run('enqueue', 'a.b');
  await nth(2);
  const [first, second] = idsOf(got);
  expect(await terminal.text('webhooks', 'redeliver', id, '--event', first!)).toContain('was sent again');
  expect(idsOf([await nth(3)])).toEqual([first]);
  expect((await terminal.run('webhooks', 'redeliver', id, '--event', 'evt_none')).code).toBe(7);
  expect(await terminal.text('webhooks', 'redeliver', id, '--since', '1h')).toContain('is sent again');
  await nth(5);
  expect(idsOf(got.slice(3)).sort()).toEqual([first, second].sort());
});

test('a paused webhook gets nothing, and everything after it is resumed', async () => {
  const [terminal, { url, nth, got }] = [await served(), await receiver()];
  const { id } = await created(terminal, url, '--events', 'job.enqueued');
  await terminal.run('webhooks', 'pause', id);
  await terminal.run('enqueue', 'while.paused');
  expect(await terminal.json('webhooks', 'show', id)).toMatchObject({ webhook: { state: { status: 'paused' } } });
  expect(got).toEqual([]);
  await terminal.run('webhooks', 'resume', id);
  expect(JSON.parse((await nth(1)).body)).toMatchObject({ data: { job_type: 'while.paused' } });
});

test('while a secret is rotated both sign', async () => {
  const [terminal, { url, nth }] = [await served(), await receiver()];
  const { id, secret } = await created(terminal, url, '--events', 'job.enqueued');
  const rotated = (await terminal.json('webhooks', 'rotate-secret', id)) as { secret: string };
  await terminal.run('enqueue', 'a.b');
  const { headers, body } = await nth(1);
  for (const one of [secret, rotated.secret]) expect(verifyWebhook(headers, body, one).type).toBe('job.enqueued');
});

test('test tells what the receiver answers, and doctor names one that fails', async () => {
  const [terminal, { url, nth, state }] = [await served(), await receiver()];
  const { id, secret } = await created(terminal, `${url}?key=token-in-the-query`, '--events', 'job.enqueued');
  expect(await terminal.text('webhooks', 'test', id)).toMatch(new RegExp(`^\\n${id} answered 204 in \\S+\\n$`));
  const tested = await nth(1);
  expect(verifyWebhook(tested.headers, tested.body, secret)).toMatchObject({ type: 'webhook.test', subject: id });
  state.status = 500;
  const { code, out } = await terminal.run('webhooks', 'test', id);
  expect([code, out]).toEqual([1, expect.stringContaining('answered 500')]);
  await terminal.run('enqueue', 'a.b');
  expect(await stateOf(terminal, id, 'failing')).toMatchObject({ last_error: 'The receiver answered 500.' });
  const { checks } = (await terminal.json('doctor')) as { checks: { name: string; message: string }[] };
  const told = checks.find(({ name }) => name === 'webhooks')!;
  expect(told.message).toMatch(
    /^1 failing, first \S+ to http:\/\/127\.0\.0\.1:\d+, failing for \S+: The receiver answered 500\.$/,
  );
  const healthNow = async () => (await fetch(`${terminal.store}/ojs/v1/health`)).json();
  const health = await healthNow();
  expect(health).toMatchObject({
    ...{ status: 'ok', webhooks: [{ id, status: 'failing', reason: 'The receiver answered 500.' }] },
  });
  expect(JSON.stringify(health)).not.toContain('token-in-the-query');
  expect(await terminal.text('webhooks', 'list')).toMatch(/failing +0 +The receiver answered 500\./);
  state.status = 204;
  await terminal.run('webhooks', 'resume', id);
  expect(await stateOf(terminal, id, 'active')).toMatchObject({ failures: 0 });
  await expect.poll(healthNow).not.toHaveProperty('webhooks');
});

test('on a store: a test comes from the command itself, and a server delivers the rest', async () => {
  const { url, nth, got } = await receiver();
  const store = new Terminal();
  store.now = Date.now();
  expect((await store.run('webhooks', 'create', url)).code).toBe(2);
  const { id, secret } = await created(store, url, '--events', 'job.enqueued', '--allow-private-webhooks');
  expect((await store.run('webhooks', 'test', id)).code).toBe(1);
  expect(got).toEqual([]);
  expect((await store.run('webhooks', 'test', id, '--allow-private-webhooks')).code).toBe(0);
  await nth(1);
  await store.run('enqueue', 'before.the.server');
  store.now += 5_000;
  expect(await store.text('webhooks', 'show', id)).toMatch(/lag +5(\.0)?s\n/);
  expect((await store.run('webhooks', 'test', id, '--webhook-target', '10.0.0.0/8')).code).toBe(1);
  expect((await store.run('webhooks', 'test', id, '--webhook-target', '127.0.0.0/8')).code).toBe(0);
  await nth(2);
  const terminal = await served(store.store);
  const { headers, body } = await nth(3);
  expect(verifyWebhook(headers, body, secret)).toMatchObject({ data: { job_type: 'before.the.server' } });
  const refused = await terminal.run('webhooks', 'test', id, '--allow-private-webhooks');
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('A server is started with it')]);
  const both = await store.run('webhooks', 'test', id, '--webhook-target', '127.0.0.1', '--allow-private-webhooks');
  expect([both.code, both.err]).toEqual([2, expect.stringContaining('leave out --webhook-target')]);
});
