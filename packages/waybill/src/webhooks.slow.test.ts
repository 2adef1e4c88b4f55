import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { open } from './sdk/open.ts';
import { ServerProcess } from './testing/server-process.ts';

const JOBS = 200;
const KILLS = 2;
/** Deliveries that must have been answered before the server is killed in the midst of more. */
const ANSWERS_BEFORE_KILL = 30;

const folder = mkdtempSync(path.join(tmpdir(), 'waybill-webhooks-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Got {
  id: string;
  subject: string;
  sequence: number;
}

/** Counts what arrives. Some deliveries are held, so that there are always some under way when the server dies. */
class CountingReceiver {
  readonly got: Got[] = [];
  /** Ids of deliveries that the server died over. */
  readonly held = new Set<string>();
  readonly #server = createServer(async (request, response) => {
    const event = await jsonOf(request);
    // A server that was killed meanwhile gets no answer, and must send it again.
    if (this.#heldFrom !== undefined && this.got.length >= this.#heldFrom) {
      this.held.add(String(request.headers['webhook-id']));
      this.#enough.resolve();
      return;
    }
    const sequence = Number(event.id.slice(event.id.lastIndexOf('_') + 1));
    this.got.push({ id: String(request.headers['webhook-id']), subject: event.subject, sequence });
    response.writeHead(204).end();
    if (this.jobs.size === JOBS) this.#all.resolve();
  });
  #heldFrom: number | undefined;
  #enough = Promise.withResolvers<void>();
  readonly #all = Promise.withResolvers<void>();

  get jobs(): Set<string> {
    return new Set(this.got.map(({ subject }) => subject));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    onTestFinished(() => {
      this.#server.close();
      this.#server.closeAllConnections();
    });
  }

  /** Answers so many more and holds what comes after; resolves when something is held. */
  holdAfter(count: number): Promise<void> {
    this.#heldFrom = this.got.length + count;
    this.#enough = Promise.withResolvers<void>();
    return this.#enough.promise;
  }

  release(): Promise<void> {
    this.#heldFrom = undefined;
    return this.#all.promise;
  }
}

async function jsonOf(request: IncomingMessage): Promise<{ id: string; subject: string }> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return JSON.parse(text) as { id: string; subject: string };
}

test('a server that is killed in mid-delivery: nothing is missed, and what comes twice has the same id', async () => {
  const store = `sqlite:${path.join(folder, 'killed.db')}`;
  const receiver = new CountingReceiver();
  await receiver.listen();
  const engine = await open(store, { engine: { maintenance: false } });
  const value = { url: receiver.url, events: ['job.enqueued'], secrets: [{ secret: 's' }], paused: false };
  await engine.records!.put({ kind: 'webhook', id: 'w', value, expected: 0 });
  await engine.close();

  const start = () => ServerProcess.start(['serve', '--port', '0', '--store', store, '--allow-private-webhooks']);
  const made: string[] = [];
  for (let kill = 0; kill <= KILLS; kill += 1) {
    const server = await start();
    onTestFinished(() => void server.end('SIGKILL'));
    const isLast = kill === KILLS;
    const held = isLast ? undefined : receiver.holdAfter(ANSWERS_BEFORE_KILL);
    const jobs = isLast ? JOBS - made.length : Math.floor(JOBS / (KILLS + 1));
    for (let at = 0; at < jobs; at += 1) {
      const { body } = await server.call<{ job: { id: string } }>('POST', '/ojs/v1/jobs', { type: 't', args: [at] });
      made.push(body.job.id);
    }
    if (held) {
      await held;
      await server.end('SIGKILL');
    } else {
      await receiver.release();
      await server.end('SIGTERM');
    }
  }

  expect(receiver.jobs).toEqual(new Set(made));
  // One event for each job here, so one id for each however often it came.
  const ids = new Set(receiver.got.map(({ id }) => id));
  expect(ids.size).toBe(JOBS);
  expect(receiver.held.size).toBeGreaterThanOrEqual(KILLS);
  expect(receiver.held.difference(ids)).toEqual(new Set());
  for (const { id, subject, sequence } of receiver.got) expect(id).toBe(`evt_${subject}_server_${sequence}`);

  // And the last server has said how far it is: a next one has nothing to repeat.
  const reopened = await open(store, { engine: { maintenance: false } });
  onTestFinished(() => reopened.close());
  const state = await reopened.sinks?.state({ tenant: '', id: 'w' });
  expect(state).toMatchObject({ status: 'active', failingSince: null });
  const rest = await reopened.events.read({ after: state!.cursor!, filter: { types: ['job.enqueued'] } });
  expect(rest.events).toEqual([]);
}, 300_000);
