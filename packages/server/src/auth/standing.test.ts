import type { Scope } from '@waybill/core';
import { expect, onTestFinished, test } from 'vitest';
import { type Harness, harness } from '../testing/harness.ts';
import { LOOK_AGAIN_EVERY_MS } from './standing.ts';

/** What an own key of another server counts for, and until the next look. */
const SOON_MS = 5_000 + LOOK_AGAIN_EVERY_MS;

async function withKey(options: { expiresAt?: number } = {}) {
  const server = harness({ auth: {}, maintenance: false });
  const { key, secret } = await server.waybill.keys!.create({ name: 'ada', scopes: ['read', 'work'], ...options });
  return { ...server, key, headers: { 'X-API-Key': secret } };
}

/** Resolves when the stream is over. */
async function streamOf({ app }: Harness, headers: Record<string, string>, path = '/ojs/v1/events') {
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const asked = { headers: { Accept: 'text/event-stream', ...headers }, signal: leaving.signal };
  const { status, body } = await app.request(path, asked);
  expect(status).toBe(200);
  const reader = body!.getReader();
  const ended = (async () => {
    let text = '';
    for (let part = await reader.read(); !part.done; part = await reader.read())
      text += new TextDecoder().decode(part.value);
    return text;
  })();
  return { ended };
}

test('a stream of events ends soon after its key was revoked, and tells nothing of what comes then', async () => {
  const server = await withKey();
  const { ended } = await streamOf(server, server.headers);
  await server.waybill.keys!.revoke(server.key.id);
  await server.clock.advance(SOON_MS);
  const { job } = await server.waybill.jobs.enqueue({ type: 'test.job', args: [] });
  expect(await ended).not.toContain(job.id);
});

test.each(['text/event-stream', 'text/plain'])(
  'a journal as %s ends soon after its key was revoked',
  async (Accept) => {
    const server = await withKey();
    const { job } = await server.waybill.jobs.enqueue({ type: 'test.job', args: [] });
    const [lease] = await server.waybill.jobs.claim({ queues: ['default'] });
    const say = (sequence: number, text: string) =>
      server.waybill.jobs.append({
        ...{ id: job.id, leaseToken: lease!.token },
        entries: [{ sequence, type: 'output', output: Buffer.from(text) }],
      });
    await say(1, 'before');
    const path = `/ojs/v1/jobs/${job.id}/journal?follow=true`;
    const { ended } = await streamOf(server, { ...server.headers, Accept }, path);
    await server.waybill.keys!.revoke(server.key.id);
    await server.clock.advance(SOON_MS);
    const text = await ended;
    await say(2, 'after');
    expect(text).toContain('before');
    expect(text).not.toMatch(/after|event: end/);
  },
);

test('a stream ends when its key expires', async () => {
  const server = harness({ auth: {}, maintenance: false });
  const expiresAt = server.clock.now() + 60_000;
  const { secret } = await server.waybill.keys!.create({ name: 'ada', scopes: ['read'], expiresAt });
  const { ended } = await streamOf(server, { 'X-API-Key': secret });
  await server.clock.advance(60_000 + LOOK_AGAIN_EVERY_MS);
  expect(await ended).toEqual(expect.any(String));
});

test('a stream whose key counts goes on', async () => {
  const server = await withKey();
  const { ended } = await streamOf(server, server.headers);
  await server.clock.advance(10 * SOON_MS);
  const state = await Promise.race([ended.then(() => 'over'), Promise.resolve('open')]);
  expect(state).toBe('open');
});

test('a call that waits for jobs gets none after its key was revoked, and the jobs stay', async () => {
  const { clock, waybill, key, headers, post } = await withKey();
  const asked = post('/ojs/v1/workers/fetch', { queues: ['default'], wait_ms: 30_000 }, headers);
  await waybill.keys!.revoke(key.id);
  const { job } = await waybill.jobs.enqueue({ type: 'test.job', args: [] });
  await clock.advance(SOON_MS);
  const { status, body } = await asked;
  expect([status, body.jobs ?? []]).toEqual([expect.any(Number), []]);
  await expect.poll(async () => (await waybill.jobs.get(job.id)).state).toBe('available');
});

// fault: the file of given keys is changed while a stream is open
test('a stream ends soon after its key got other rights', async () => {
  let scopes: Scope[] = ['read'];
  const given = {
    identify: async () => ({ principal: { id: 'given', tenant: 'acme', scopes }, name: 'given', expiresAt: null }),
  };
  const server = harness({ auth: { given, keys: false, sessions: false }, maintenance: false });
  const { ended } = await streamOf(server, { 'X-API-Key': 'wb_any' });
  scopes = ['metrics'];
  await server.clock.advance(SOON_MS);
  const { job } = await server.waybill.jobs.enqueue({ type: 'test.job', args: [] }, { tenant: 'acme' });
  expect(await ended).not.toContain(job.id);
});
