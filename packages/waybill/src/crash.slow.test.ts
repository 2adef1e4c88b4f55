import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { newJobId } from '@waybill/core';
import { afterAll, expect, test } from 'vitest';
import { checkJobLog, readLog } from './testing/job-log.ts';
import { ServerProcess } from './testing/server-process.ts';

const KILLS = 4;
const LEASE_MS = 1_000;
const PRODUCERS = 8;
const WORKERS = 4;
/** Calls that must have been answered before the server is killed in their midst. */
const CALLS_BEFORE_KILL = 300;

const folder = mkdtempSync(path.join(tmpdir(), 'waybill-crash-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface FetchedJob {
  id: string;
  run: number;
  lease_token: string;
}

/** Load from many sides at once; it notes what the server has answered for, and survives the server. */
class Load {
  readonly acknowledged = new Set<string>();
  readonly completed = new Set<string>();
  readonly #unanswered: string[] = [];
  #answers = 0;
  #enough: () => void = () => {};

  /** Runs until `CALLS_BEFORE_KILL` answers have come, then kills the server while calls are under way. */
  async runAndKill(server: ServerProcess): Promise<void> {
    this.#answers = 0;
    const enough = new Promise<void>((resolve) => {
      this.#enough = resolve;
    });
    const loops = [
      ...Array.from({ length: PRODUCERS }, () => this.#until(server, () => this.#produce(server))),
      ...Array.from({ length: WORKERS }, (_, index) =>
        this.#until(server, () => this.#work(server, `worker-${index}`, 0)),
      ),
    ];
    await enough;
    await server.end('SIGKILL');
    await Promise.all(loops);
  }

  /** Works off whatever is left. */
  async drain(server: ServerProcess): Promise<void> {
    while (this.acknowledged.difference(this.completed).size > 0) await this.#work(server, 'drainer', 5_000);
  }

  async #until(server: ServerProcess, step: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        await step();
      } catch (error) {
        if (error instanceof TypeError) return; // fetch failed: the server is gone
        throw new Error(`${server.url}: ${String(error)}`, { cause: error });
      }
      this.#answers += 1;
      if (this.#answers === CALLS_BEFORE_KILL) this.#enough();
    }
  }

  /** An unanswered enqueue is repeated under its id after the restart, as a careful producer does. */
  async #produce(server: ServerProcess): Promise<void> {
    const id = this.#unanswered.pop() ?? newJobId(Date.now());
    this.#unanswered.push(id);
    const { status } = await server.call('POST', '/ojs/v1/jobs', {
      id,
      type: 'crash.test',
      args: [id],
      options: { queue: 'crash' },
    });
    expect([201, 409]).toContain(status);
    this.#unanswered.splice(this.#unanswered.indexOf(id), 1);
    this.acknowledged.add(id);
  }

  async #work(server: ServerProcess, worker: string, waitMs: number): Promise<void> {
    const request = {
      queues: ['crash'],
      count: 3,
      worker_id: worker,
      visibility_timeout_ms: LEASE_MS,
      wait_ms: waitMs,
    };
    const { body } = await server.call<{ jobs: FetchedJob[] }>('POST', '/ojs/v1/workers/fetch', request);
    await Promise.all(
      body.jobs.map(async ({ id, lease_token }) => {
        const { status } = await server.call('POST', '/ojs/v1/workers/ack', {
          job_id: id,
          lease_token,
          worker_id: worker,
        });
        if (status === 200) this.completed.add(id);
        else expect(status, 'an ack that comes too late is refused').toBe(409);
      }),
    );
  }
}

// fault: the process is killed with SIGKILL under load
test('guarantees 1, 2, 4, 11: a server killed in the midst of load loses nothing it answered for', {
  timeout: 120_000,
}, async () => {
  const args = ['serve', '--store', `sqlite:${path.join(folder, 'crash.db')}`, '--port', '0'];
  const load = new Load();
  for (let kill = 0; kill < KILLS; kill += 1) await load.runAndKill(await ServerProcess.start(args));

  const server = await ServerProcess.start(args);
  try {
    for (const id of load.acknowledged) {
      const { status, body } = await server.call<{ job: { state: string } }>('GET', `/ojs/v1/jobs/${id}`);
      expect(status, `acknowledged job ${id}`).toBe(200);
      // Its ack may have been written without the answer getting through.
      if (body.job.state === 'completed') load.completed.add(id);
    }
    await load.drain(server);
    const log = await readLog(server);
    for (const id of load.acknowledged) {
      expect(log.get(id)?.at(-1)?.type, `the last event of ${id}`).toBe('job.completed');
      checkJobLog(log.get(id)!, { leaseMs: LEASE_MS });
    }
    expect(load.acknowledged.size).toBeGreaterThan(KILLS * 50);
  } finally {
    expect(await server.end('SIGTERM')).toBe(0);
  }
});
