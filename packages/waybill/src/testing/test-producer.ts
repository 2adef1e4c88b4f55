import { engine, type Json, type Lease, type Store, silentLogger, systemClock } from '@waybill/core';
import { createTasksApp } from '@waybill/server';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { StoreToWalk } from './access-walk/stores.ts';

/** Servers that share the store. */
const SERVERS = 3;
const ADDS = 6;

// biome-ignore lint/suspicious/noExplicitAny: the OpenAPI file holds the answers to their shape, in the tests of the server.
type Body = any;

const aTask = (taskId: string, more: object = {}) => ({
  ...{ taskId, name: taskId, description: 'Work.', tag: 'worker', ...more },
});

/** The producer API of several servers on one store, which workers take tasks of. */
async function servers(open: StoreToWalk['open']) {
  const store: Store = await open();
  const all = Array.from({ length: SERVERS }, (_, index) => {
    // Only the last one closes the store.
    const own = index === 0 ? store : new Proxy(store, { get: (target, name) => partOf(target, name) });
    return engine({ store: own, logger: silentLogger });
  });
  onTestFinished(async () => {
    for (const one of all.toReversed()) await one.close();
  });
  const apps = all.map((waybill) =>
    createTasksApp({ waybill, clock: systemClock, version: '0', logger: silentLogger }),
  );
  const call = async (
    method: string,
    path: string,
    body?: object,
    server = 0,
  ): Promise<{ status: number; body: Body }> => {
    const response = await apps[server]!.request(path, {
      method,
      headers: { 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  };
  const claim = async (server = 0): Promise<Lease[]> => {
    const leases = await all[server]!.jobs.claim({ queues: ['agent-tasks'], count: 50, leaseMs: 600_000 });
    return leases;
  };
  return {
    ...{ all, call, claim },
    post: (path: string, body?: object, server = 0) => call('POST', path, body, server),
    get: async (path: string): Promise<Body> => (await call('GET', path)).body,
    /** The runs of exactly these tasks, once they may start. */
    runs: async (...taskIds: string[]): Promise<Lease[]> => {
      const found = new Map<string, Lease>();
      await vi.waitFor(
        async () => {
          for (const lease of await claim()) found.set(taskIdOf(lease), lease);
          expect([...found.keys()].sort()).toEqual([...taskIds].sort());
        },
        { interval: 10, timeout: 30_000 },
      );
      return taskIds.map((taskId) => found.get(taskId)!);
    },
    settle: async ({ job, token: leaseToken }: Lease, result: Json | Error, server = 0) => {
      const error = { code: 'boom', message: 'It broke.' };
      const outcome =
        result instanceof Error ? ({ kind: 'discarded', error } as const) : ({ kind: 'completed', result } as const);
      await all[server]!.jobs.settle({ id: job.id, leaseToken, outcome });
    },
  };
}

function partOf(target: Store, name: string | symbol): unknown {
  if (name === 'close') return async () => {};
  const value: unknown = Reflect.get(target, name, target);
  return typeof value === 'function' ? value.bind(target) : value;
}

const taskIdOf = ({ job }: Lease): string => (job.spec.args[0] as { taskId: string }).taskId;

const eventually = (check: () => Promise<void>) => vi.waitFor(check, { interval: 10, timeout: 30_000 });

/** What the producer API promises, on a store of its own for each test. */
export function testProducer({ kind, canRun, open }: StoreToWalk): void {
  describe.skipIf(!canRun)(`jobs made of tasks on ${kind}`, { timeout: 120_000 }, () => {
    test('a job is made of definitions and of its own tasks, reviewed, and listed as completed', async () => {
      const { call, post, get, runs, settle } = await servers(open);
      const put = await call('PUT', '/task-definitions/draft', {
        description: 'Draft it.',
        tag: 'editor',
        requiresReview: true,
      });
      expect(put.status).toBe(200);
      const { body } = await post('/jobs', {
        tasks: [
          aTask('plan'),
          { taskId: 'text', name: 'draft', dependsOn: ['plan'] },
          aTask('print', { dependsOn: ['text'] }),
        ],
      });
      const one = `/jobs/${body.jobId}`;
      await call('PUT', '/task-definitions/draft', { description: 'Another way.', tag: 'poet' });
      const [plan] = await runs('plan');
      await settle(plan!, 'the plan');
      const [first] = await runs('text');
      await settle(first!, 'first');
      await eventually(async () => expect((await get(one)).tasks[1].status).toBe('in_review'));
      expect((await post(`${one}/tasks/text/request-revision`, { feedback: 'Shorter.' })).body.iteration).toBe(2);
      const [second] = await runs('text');
      expect([second!.parentResults, second!.revision?.previous]).toEqual([['the plan'], 'first']);
      await settle(second!, 'second');
      await eventually(async () => expect((await get(one)).tasks[1].status).toBe('in_review'));
      expect((await post(`${one}/tasks/text/approve`)).status).toBe(200);
      const [print] = await runs('print');
      expect(print!.parentResults).toEqual(['second']);
      await settle(print!, null);
      await eventually(async () => expect((await get(one)).status).toBe('completed'));
      const job = await get(one);
      expect(job.tasks).toMatchObject([
        { taskId: 'plan', output: 'the plan' },
        { taskId: 'text', tag: 'editor', definitionVersion: put.body.version, iteration: 2, output: 'second' },
        { taskId: 'print', status: 'completed' },
      ]);
      expect(await get('/jobs?status=completed')).toEqual({
        jobs: [
          {
            jobId: body.jobId,
            status: 'completed',
            totalTasks: 3,
            createdAt: body.createdAt,
            completedAt: job.completedAt,
          },
        ],
        nextCursor: null,
      });
      const { events } = await get(`${one}/tasks/text/events`);
      expect(events.map(({ eventType }: { eventType: string }) => eventType)).toContain('Task Revision Requested');
    });

    test('adds at once on several servers all count, and each task is started once', async () => {
      const { all, post, get, claim, settle } = await servers(open);
      const { body } = await post('/jobs', { tasks: [aTask('first'), aTask('hold')] });
      const one = `/jobs/${body.jobId}`;
      const [first, hold] = (await claim()).sort((a, b) => taskIdOf(a).localeCompare(taskIdOf(b)));
      const adds = Array.from({ length: ADDS }, (_, index) =>
        post(
          `${one}/tasks`,
          { tasks: [aTask(`a${index}`), aTask(`b${index}`, { dependsOn: ['first', `a${index}`] })] },
          index % SERVERS,
        ),
      );
      // The one that they wait for ends in the middle of it.
      const answers = await Promise.all([...adds, settle(first!, 'f', 1)]);
      expect(answers.slice(0, ADDS).map((answer) => answer!.status)).toEqual(adds.map(() => 200));
      const runs = new Map<string, number>();
      await eventually(async () => {
        const leases = (await Promise.all(all.map((_, server) => claim(server)))).flat();
        await Promise.all(
          leases.map(async (lease, index) => {
            runs.set(taskIdOf(lease), (runs.get(taskIdOf(lease)) ?? 0) + 1);
            if (taskIdOf(lease).startsWith('b'))
              expect(lease.parentResults).toEqual(['f', taskIdOf(lease).replace('b', 'a')]);
            await settle(lease, taskIdOf(lease), index % SERVERS);
          }),
        );
        expect(runs.size).toBe(2 * ADDS);
      });
      await settle(hold!, null);
      await eventually(async () => expect((await get(one)).status).toBe('completed'));
      expect((await get(one)).totalTasks).toBe(2 * ADDS + 2);
      expect([...runs.values()]).toEqual([...runs.values()].map(() => 1));
      const ends = await all[0]!.events.read({ limit: 1_000, filter: { types: ['workflow.completed'] } });
      expect(ends.events).toHaveLength(1);
    });

    test('a partly failed job runs one task again, and then all that failed', async () => {
      const { post, get, runs, settle } = await servers(open);
      const { body } = await post('/jobs', {
        tasks: [
          aTask('left'),
          aTask('right'),
          aTask('after', { dependsOn: ['left'] }),
          aTask('both', { dependsOn: ['left', 'right'] }),
        ],
      });
      const one = `/jobs/${body.jobId}`;
      const [left, right] = await runs('left', 'right');
      await settle(left!, new Error('no'));
      await settle(right!, new Error('no'));
      await eventually(async () => expect(await get(one)).toHaveProperty('completedAt'));
      expect((await get('/jobs?status=partial_failure')).jobs).toMatchObject([{ jobId: body.jobId }]);
      expect((await post(`${one}/tasks/left/retry`, undefined, 1)).body.status).toBe('pending');
      const [again] = await runs('left');
      await settle(again!, 'l');
      const [after] = await runs('after');
      await settle(after!, 'a');
      await eventually(async () =>
        expect((await get(one)).progress).toMatchObject({ completed: 2, failed: 1, cancelled: 1 }),
      );
      expect((await post(`${one}/resume`, undefined, 2)).body.retriedTasks).toEqual(['right']);
      const [last] = await runs('right');
      await settle(last!, 'r');
      const [both] = await runs('both');
      expect(both!.parentResults).toEqual(['l', 'r']);
      await settle(both!, 'b');
      await eventually(async () => expect((await get(one)).status).toBe('completed'));
    });
  });
}
