import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ServerProcess } from './testing/server-process.ts';

const KILLS = 6;
const WORKFLOWS = 5;
const ITEMS = 12;
const WORKERS = 4;
/** Calls that must have been answered before the server is killed in their midst. */
const CALLS_BEFORE_KILL = 25;

const folder = mkdtempSync(path.join(tmpdir(), 'waybill-flow-crash-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface FetchedJob {
  id: string;
  node: string;
  lease_token: string;
  parent_results?: unknown[];
}

const step = (id: string, more: object = {}) => ({
  id,
  type: `flow.${id}`,
  args: [],
  options: { queue: 'flow' },
  ...more,
});

const GRAPH = {
  nodes: [
    step('list'),
    step('each', { depends_on: ['list'], map: { over: { parent: 'list' } } }),
    step('late', { depends_on: ['list'], delay_ms: 50 }),
    step('never', { depends_on: ['list'], when: { parent: 'list', path: '0', gt: 0 } }),
    step('end', { depends_on: ['each', 'late', 'never'] }),
  ],
};

const resultOf = (node: string) => (node === 'list' ? Array.from({ length: ITEMS }, (_, place) => place) : node);

/** Claims and settles with several workers until `isEnough`, or until the server is gone. */
async function work(server: ServerProcess, isEnough: (answers: number) => boolean): Promise<void> {
  let answers = 0;
  const loop = async (worker: number): Promise<void> => {
    while (!isEnough(answers)) {
      const request = {
        queues: ['flow'],
        count: 2,
        worker_id: `w${worker}`,
        visibility_timeout_ms: 1_000,
        wait_ms: 200,
      };
      const { body } = await server.call<{ jobs: FetchedJob[] }>('POST', '/ojs/v1/workers/fetch', request);
      answers += 1;
      for (const { id, lease_token, node, parent_results } of body.jobs) {
        if (node === 'end') expect(parent_results).toEqual([eachOnce, 'late', null]);
        const settled = { job_id: id, lease_token, result: resultOf(node) };
        const { status } = await server.call('POST', '/ojs/v1/workers/ack', settled);
        expect([200, 409]).toContain(status);
        answers += 1;
      }
    }
  };
  const loops = Array.from({ length: WORKERS }, (_, worker) =>
    loop(worker).catch((error: unknown) => {
      if (!(error instanceof TypeError)) throw error; // fetch failed: the server is gone
    }),
  );
  await Promise.all(loops);
}

const eachOnce = Array.from({ length: ITEMS }, (_, place) => `each[${place}]`);

// fault: the process is killed with SIGKILL while maps are planted and gathered
test('guarantee 8: workflows with maps, delays and conditions survive a server that is killed again and again', {
  timeout: 180_000,
}, async () => {
  const args = ['serve', '--store', `sqlite:${path.join(folder, 'crash.db')}`, '--port', '0'];
  let server = await ServerProcess.start(args);
  const ids: string[] = [];
  for (let n = 0; n < WORKFLOWS; n += 1) {
    const { body } = await server.call<{ workflow: { id: string } }>('POST', '/ojs/v1/workflows', GRAPH);
    ids.push(body.workflow.id);
  }
  for (let kill = 0; kill < KILLS; kill += 1) {
    const killed = server;
    let isKilled = false;
    const working = work(killed, (answers) => {
      if (answers >= CALLS_BEFORE_KILL && !isKilled) {
        isKilled = true;
        void killed.end('SIGKILL');
      }
      return isKilled;
    });
    await working;
    await killed.end('SIGKILL');
    server = await ServerProcess.start(args);
  }
  const stateOf = async (id: string) => {
    const { body } = await server.call<{ workflow: { state: string; metadata: object; steps: { id: string }[] } }>(
      'GET',
      `/ojs/v1/workflows/${id}`,
    );
    return body.workflow;
  };
  let open = ids.length;
  const counting = (async () => {
    while (open > 0) open = (await Promise.all(ids.map(stateOf))).filter(({ state }) => state === 'running').length;
  })();
  await Promise.all([work(server, () => open === 0), counting]);
  for (const id of ids) {
    const { state, metadata, steps } = await stateOf(id);
    const total = GRAPH.nodes.length + ITEMS;
    expect([state, metadata]).toMatchObject([
      'completed',
      { job_count: total, completed_count: total - 1, skipped_count: 1 },
    ]);
    expect(steps.map((one) => one.id).filter((name) => name.startsWith('each['))).toHaveLength(ITEMS);
  }
  expect(await server.end('SIGTERM')).toBe(0);
});
