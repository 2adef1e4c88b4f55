import { connect } from 'node:net';
import { engine, type NewEntry, silentLogger } from '@waybill/core';
import { memoryStore, TestClock } from '@waybill/core/testing';
import { expect, onTestFinished, test } from 'vitest';
import { createApp } from '../app.ts';
import { serve } from '../serve.ts';

const ENTRY = 'x'.repeat(10_000);
const COUNT = 1_500;
const entries = (from: number, count: number): NewEntry[] =>
  Array.from({ length: count }, (_, n) => ({
    ...{ sequence: from + n, type: 'output', output: Buffer.from(`${from + n} ${ENTRY}`) },
  }));

// fault: a client that never reads its socket, while the job says more than any buffer holds
test('a reader that stops reading its socket is disconnected; the writer and another reader are not held up', async () => {
  const waybill = engine({ store: memoryStore(), maintenance: false, logger: silentLogger });
  const clock = new TestClock();
  const cuts: string[] = [];
  const app = createApp({
    ...{ waybill, version: 'test', logger: silentLogger, clock },
    observeStreams: { cutOff: ({ kind }) => void cuts.push(kind) },
  });
  const server = await serve(app, { port: 0 });
  onTestFinished(async () => {
    await server.close();
    await waybill.close();
  });
  const { job } = await waybill.jobs.enqueue({ type: 'test.job', args: [] });
  const [lease] = await waybill.jobs.claim({ queues: ['default'] });
  const held = { id: job.id, leaseToken: lease!.token };
  const path = `/ojs/v1/jobs/${job.id}/journal`;
  const stuck = connect(Number(new URL(server.url).port), '127.0.0.1').pause();
  onTestFinished(() => void stuck.destroy());
  const closed = new Promise((resolve) => stuck.once('close', resolve).once('error', () => {}));
  stuck.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n`);
  const other = (await fetch(server.url + path, { headers: { accept: 'text/event-stream' } })).body!.getReader();
  const count = (text: string) => text.match(/^event: entry$/gm)?.length ?? 0;
  const pieces: string[] = [];
  const read = async (): Promise<boolean> => {
    const { done, value } = await other.read();
    if (value) pieces.push(Buffer.from(value).toString());
    return !done;
  };
  // More than the buffers of two sockets hold.
  for (let sequence = 1; sequence <= COUNT; sequence += 50)
    expect((await waybill.jobs.append({ ...held, entries: entries(sequence, 50) })).stored).toBe(50);
  while (!pieces.slice(-2).join('').includes(`"sequence":${COUNT},`)) await read();
  await expect
    .poll(async () => {
      await clock.advance(30_000);
      return cuts;
    })
    .toEqual(['journal']);
  await waybill.jobs.settle({ ...held, outcome: { kind: 'completed', result: null } });
  while (await read());
  expect(pieces.at(-1)).toContain('event: end');
  expect(count(pieces.join(''))).toBe(COUNT);
  // What the system had taken already is read now, and then the connection is over: no end of the job was told.
  let seen = '';
  stuck.on('data', (some) => {
    seen += some;
  });
  stuck.resume();
  await closed;
  expect(seen).not.toContain('event: end');
  // The last message that came may have been cut in its midst.
  const whole = seen.slice(0, seen.lastIndexOf('\n\n') + 2);
  const last = [...whole.matchAll(/^id: (\S+)$/gm)].at(-1)![1]!;
  const headers = { accept: 'text/event-stream', 'last-event-id': last };
  const resumed = await (await fetch(server.url + path, { headers })).text();
  expect(count(whole)).toBeLessThan(COUNT);
  expect(count(whole) + count(resumed)).toBe(COUNT);
});

test('an output that is silent for longer than a connection may be goes on', async () => {
  const waybill = engine({ store: memoryStore(), maintenance: false, logger: silentLogger });
  const server = await serve(createApp({ waybill, version: 'test', logger: silentLogger }), {
    port: 0,
    stalledTimeoutMs: 50,
  });
  onTestFinished(async () => {
    await server.close();
    await waybill.close();
  });
  const { job } = await waybill.jobs.enqueue({ type: 'test.job', args: [] });
  const [lease] = await waybill.jobs.claim({ queues: ['default'] });
  const held = { id: job.id, leaseToken: lease!.token };
  const answer = await fetch(`${server.url}/ojs/v1/jobs/${job.id}/journal?follow=true`, {
    headers: { accept: 'text/plain' },
  });
  // Another connection that is as quiet tells when the time has passed.
  const idle = connect(Number(new URL(server.url).port), '127.0.0.1');
  await new Promise((resolve) => idle.resume().once('close', resolve));
  await waybill.jobs.append({ ...held, entries: [{ sequence: 1, type: 'output', output: Buffer.from('late\n') }] });
  await waybill.jobs.settle({ ...held, outcome: { kind: 'completed', result: null } });
  expect(await answer.text()).toBe('late\n');
});
