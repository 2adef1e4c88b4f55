import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { engine, silentLogger } from '@waybill/core';
import { createApp, serve } from '@waybill/server';
import { task } from '@waybill/worker';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openBlobs } from '../connect/open-blobs.ts';
import { openStore } from '../connect/open-store.ts';
import { type Connection, connect } from './connect.ts';

/** Leaves a file in its first run, and answers in its second what it has found. */
const twice = task('files.twice', {
  retry: { max_attempts: 2, initial_interval_ms: 1, jitter: false },
  run: async (_: undefined, { attempt, files }) => {
    if (attempt > 1) return { kept: String(Buffer.from((await files.get('state/page.txt'))!)) };
    await files.put('state/page.txt', Buffer.from('page 7'));
    throw new Error('again');
  },
});

/** Where blobs may be kept. Nothing is there until something is written. */
function place(): string {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-files-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'blobs');
}

async function overStore(blobs: string): Promise<Connection> {
  const waybill = await connect('sqlite::memory:', { blobs, logger: silentLogger });
  onTestFinished(() => waybill.close());
  return waybill;
}

/** A server with these blobs, and a connection that names them too. */
async function overHttp(blobs: string): Promise<Connection> {
  const store = await openStore('sqlite::memory:');
  const port = engine({ store, blobs: await openBlobs(blobs), logger: silentLogger });
  const server = await serve(createApp({ waybill: port, version: 'test' }), { port: 0, graceMs: 100 });
  const waybill = await connect(server.url, { blobs, logger: silentLogger });
  onTestFinished(async () => {
    await waybill.close();
    await server.close();
    await port.close();
  });
  return waybill;
}

describe.each([
  ['SQLite', overStore],
  ['HTTP', overHttp],
])('context.files over %s', (_, open) => {
  it('has in the second run what the first one has written', async () => {
    const folder = place();
    const waybill = await open(`file:${folder}`);
    waybill.work([twice]);
    // Opened by the first run that has files.
    expect(existsSync(folder)).toBe(false);
    const enqueued = await waybill.enqueue(twice);
    expect(await waybill.wait(enqueued)).toEqual({ kept: 'page 7' });
    expect(existsSync(join(folder, 'jobs', enqueued.id, 'files', 'state', 'page.txt'))).toBe(true);
  });
});

it('a mistake in the address of files is told when a connection to a server is made', async () => {
  await expect(connect('http://127.0.0.1:9', { blobs: 'fil:./x' })).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining("Did you mean 'file'?"),
  });
});

it('files without a place are refused, and the refusal says how to give one', async () => {
  const waybill = await connect('sqlite::memory:', { logger: silentLogger });
  onTestFinished(() => waybill.close());
  waybill.work([twice]);
  const enqueued = await waybill.enqueue(twice, undefined, { retry: { max_attempts: 1 } });
  await expect(waybill.wait(enqueued)).rejects.toThrow('This worker has no place for files of jobs.');
});
