import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { checkJobLog, readLog } from './testing/job-log.ts';
import { ServerProcess } from './testing/server-process.ts';

const WORKERS = 16;
const LIMIT = 3;
const LIMITED = 150;
const KEYS = 20;
const TRIES_PER_KEY = 8;
const LAYERS = 4;
const WIDTH = 10;
const LEASE_MS = 60_000;

const folder = mkdtempSync(path.join(tmpdir(), 'waybill-hammer-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface FetchedJob {
  id: string;
  type: string;
  node?: string;
  lease_token: string;
  parent_results?: string[];
}

const nodeName = (layer: number, index: number) => `n${layer}.${index}`;

/** Each node of a layer waits for three of the layer before. */
const graph = Array.from({ length: LAYERS * WIDTH }, (_, n) => {
  const [layer, index] = [Math.floor(n / WIDTH), n % WIDTH];
  const depends_on = layer === 0 ? [] : [0, 1, 5].map((step) => nodeName(layer - 1, (index + step) % WIDTH));
  return { id: nodeName(layer, index), depends_on, type: 'hammer.node', args: [], options: { queue: 'hammer' } };
});
const parentsOf = new Map(graph.map(({ id, depends_on }) => [id, depends_on]));

/** What the workers have seen; they live in one process, so a look at it is exact. */
class Seen {
  readonly done = new Set<string>();
  readonly startedNodes = new Set<string>();
  #limited = 0;
  mostLimited = 0;

  start(job: FetchedJob): void {
    if (job.type === 'hammer.limited') {
      this.#limited += 1;
      this.mostLimited = Math.max(this.mostLimited, this.#limited);
    }
    if (job.node === undefined) return;
    expect(this.startedNodes.has(job.node), `guarantee 8: ${job.node} starts once`).toBe(false);
    this.startedNodes.add(job.node);
    const parents = parentsOf.get(job.node)!;
    for (const parent of parents) expect(this.done.has(parent), `guarantee 8: ${parent} before ${job.node}`).toBe(true);
    expect(job.parent_results ?? []).toEqual(parents.map((parent) => `did ${parent}`));
  }

  /** Noted before the server hears of it: nobody can start because of it any earlier. */
  end(job: FetchedJob): void {
    if (job.type === 'hammer.limited') this.#limited -= 1;
    this.done.add(job.node ?? job.id);
  }
}

// fault: two server processes and sixteen workers at once on one file
test('guarantees 2, 7, 8: two servers and sixteen workers hammer one file', { timeout: 120_000 }, async () => {
  const args = ['serve', '--store', `sqlite:${path.join(folder, 'hammer.db')}`, '--port', '0'];
  const servers = await Promise.all([ServerProcess.start(args), ServerProcess.start(args)]);
  const server = (n: number) => servers[n % servers.length]!;
  const enqueue = (n: number, type: string, args: unknown[], options: object) =>
    server(n).call('POST', '/ojs/v1/jobs', { type, args, options: { queue: 'hammer', ...options } });

  const limited = Array.from({ length: LIMITED }, (_, n) =>
    enqueue(n, 'hammer.limited', [n], { rate_limit: { key: 'k', concurrency: LIMIT } }),
  );
  const unique = Array.from({ length: KEYS * TRIES_PER_KEY }, (_, n) =>
    enqueue(n, 'hammer.unique', [n % KEYS], {
      unique: { keys: ['type', 'args'], states: ['available', 'active', 'completed'] },
    }),
  );
  const workflow = server(0).call<{ workflow: { id: string } }>('POST', '/ojs/v1/workflows', {
    type: 'dag',
    nodes: graph,
  });
  const total = LIMITED + KEYS + graph.length;
  const seen = new Seen();

  async function work(n: number): Promise<void> {
    while (seen.done.size < total) {
      const request = {
        queues: ['hammer'],
        count: 2,
        worker_id: `w${n}`,
        visibility_timeout_ms: LEASE_MS,
        wait_ms: 500,
      };
      const { body } = await server(n).call<{ jobs: FetchedJob[] }>('POST', '/ojs/v1/workers/fetch', request);
      for (const job of body.jobs) seen.start(job);
      for (const job of body.jobs) {
        seen.end(job);
        const settled = { job_id: job.id, lease_token: job.lease_token, result: `did ${job.node ?? job.id}` };
        expect((await server(n + 1).call('POST', '/ojs/v1/workers/ack', settled)).status).toBe(200);
      }
    }
  }
  await Promise.all(Array.from({ length: WORKERS }, (_, n) => work(n)));

  const created = (await Promise.all(unique)).filter(({ status }) => status === 201);
  expect(created, 'guarantee 7: one job per unique key').toHaveLength(KEYS);
  expect((await Promise.all(limited)).every(({ status }) => status === 201)).toBe(true);
  expect(seen.mostLimited, 'guarantee 7: leases of one key').toBeLessThanOrEqual(LIMIT);
  const { id } = (await workflow).body.workflow;
  await until(
    async () =>
      (await server(0).call<{ workflow: { state: string } }>('GET', `/ojs/v1/workflows/${id}`)).body.workflow.state ===
      'completed',
  );
  for (const events of (await readLog(server(0))).values()) checkJobLog(events, { leaseMs: LEASE_MS });
  expect(await Promise.all(servers.map((one) => one.end('SIGTERM')))).toEqual([0, 0]);
});

/** Asks until the answer is yes; every question is a real request, so this does not spin. */
async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue()));
}
