import { toRfc3339 } from '@waybill/client';
import {
  Fields,
  type JsonObject,
  type Waybill,
  type WorkflowRecord,
  type WorkflowState,
  type Workflows,
} from '@waybill/core';
import { answer } from '../http/answer.ts';
import { readObject, readOptionalBody } from '../http/body.ts';
import type { App, Ctx } from '../http/env.ts';
import { portOf } from '../http/port.ts';
import { Query } from '../http/query.ts';
import type { Surface } from '../surface.ts';
import { definitionsFor, needAdmin, needScope, readerOf } from './callers.ts';
import { Faults } from './faults.ts';
import { countTasks, rowsOf, workflowIdIn } from './job-rows.ts';
import { JOB_STATUSES, type JobStatus, jobStatusOf, jobToWire } from './job-view.ts';
import { nodesOf, readTasks } from './task-request.ts';
import { tasksIn } from './task-rows.ts';
import { statusOf } from './task-status.ts';
import { inWords, jobIdOf } from './task-words.ts';
import { inputOf, workOf } from './task-work.ts';

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;
const MAX_NAME = 255;
const LONGEST_MS = 366 * 86_400_000;
/** Jobs whose tasks are counted at a time. */
const ABREAST = 10;
/** Looks for jobs of a status before a page is answered as it is. */
const MAX_LOOKS = 10;

/** States in which a job of each status may be. */
const STATES: Readonly<Record<JobStatus, readonly WorkflowState[]>> = {
  processing: ['running'],
  partial_failure: ['running', 'failed'],
  completed: ['completed'],
  cancelled: ['cancelled'],
};

/** Jobs of tasks: each is a workflow, and each of its tasks a node. */
export function jobRoutes(app: App, { maxBodyBytes, clock }: Surface, waybill: Waybill, base: string): void {
  app.post(
    `${base}/jobs`,
    inWords(async (c) => {
      needScope(c, 'enqueue');
      const body = await readObject(c, maxBodyBytes);
      const faults = new Faults();
      faults.unknownIn(body, ['tasks', 'name', 'timeoutMs'], '');
      const fields = new Fields(body);
      const name = faults.of(() => fields.string('name', { max: MAX_NAME }));
      const timeoutMs = faults.of(() => fields.integer('timeoutMs', { min: 1, max: LONGEST_MS }));
      const definitions = definitionsFor(c, waybill);
      const tasks = await readTasks(body, faults, (names) => definitions.workOf(names));
      const nodes = nodesOf(tasks, faults, clock.now());
      faults.check();
      const { id, createdAt } = await portOf(c).workflows.create({
        ...{ type: 'dag', nodes, failure_policy: 'continue' },
        ...(name !== undefined && { name }),
        ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }),
      });
      const jobId = jobIdOf(id);
      c.header('Location', `${base}/jobs/${jobId}`);
      const rootTasks = tasks
        .filter(({ dependsOn }) => (dependsOn as string[]).length === 0)
        .map(({ taskId }) => taskId);
      const made = { jobId, status: 'created', totalTasks: tasks.length, rootTasks, createdAt: toRfc3339(createdAt) };
      return answer(c, made, 201);
    }),
  );

  app.get(
    `${base}/jobs`,
    inWords(async (c) => {
      const query = new Query(c, ['limit', 'cursor', 'status']);
      const limit = query.integer('limit', { min: 1, max: MAX_LIMIT }) ?? DEFAULT_LIMIT;
      const cursor = query.string('cursor', { max: 4_096 });
      const status = query.oneOf('status', JOB_STATUSES);
      const { jobs, next } = await listJobs(portOf(c), { limit, cursor, status });
      return answer(c, { jobs, nextCursor: next ?? null });
    }),
  );

  app.get(
    `${base}/jobs/:jobId`,
    inWords(async (c) => {
      const id = workflowIdIn(c);
      return answer(c, await shown(portOf(c).workflows, id));
    }),
  );

  app.post(
    `${base}/jobs/:jobId/tasks`,
    inWords(async (c) => {
      needScope(c, 'enqueue');
      const id = workflowIdIn(c);
      const body = await readObject(c, maxBodyBytes);
      const faults = new Faults();
      faults.unknownIn(body, ['tasks'], '');
      const { workflows } = readerOf(c, waybill);
      const before = tasksIn(await rowsOf(workflows, id));
      const definitions = definitionsFor(c, waybill);
      // The job goes on with the definitions that it began with.
      const begun = new Map(before.flatMap(({ row }) => begunWith(inputOf(row.spec), row)));
      const tasks = await readTasks(body, faults, async (names) => {
        const found = await definitions.workOf(names.filter((name) => !begun.has(name)));
        return new Map([...found, ...begun]);
      });
      const known = new Set(before.map(({ row }) => row.node!));
      // Whoever repeats a call adds nothing, and is answered as before; the engine compares what is there.
      const isRepeated = tasks.every(({ taskId }) => known.has(taskId));
      const others = isRepeated ? [...known].filter((one) => !tasks.some(({ taskId }) => taskId === one)) : [...known];
      const nodes = nodesOf(tasks, faults, clock.now(), others);
      faults.check();
      await portOf(c).workflows.addNodes(id, nodes);
      const after = tasksIn(await rowsOf(workflows, id));
      const completed = new Set(after.filter((task) => statusOf(task) === 'completed').map(({ row }) => row.node!));
      const isReady = (parent: string): boolean => known.has(parent) && completed.has(parent);
      const added = tasks.map(({ taskId }) => taskId);
      const immediatelyReady = tasks
        .filter(({ dependsOn }) => (dependsOn as string[]).every(isReady))
        .map(({ taskId }) => taskId);
      return answer(c, { jobId: jobIdOf(id), addedTasks: added, immediatelyReady, totalTasksNow: after.length });
    }),
  );

  app.post(
    `${base}/jobs/:jobId/cancel`,
    inWords(async (c) => {
      const id = await idWithoutBody(c, maxBodyBytes);
      await portOf(c).workflows.cancel(id);
      return answer(c, { jobId: jobIdOf(id), status: 'cancelled' });
    }),
  );

  app.post(
    `${base}/jobs/:jobId/resume`,
    inWords(async (c) => {
      const id = await idWithoutBody(c, maxBodyBytes);
      await needAdmin(c, 'workflows.resume', id);
      const { workflows } = portOf(c);
      const before = await failedIn(workflows, id);
      const { state, partialFailure } = await workflows.resume(id);
      return answer(c, { jobId: jobIdOf(id), status: jobStatusOf(state, partialFailure), retriedTasks: before });
    }),
  );
}

const begunWith = (input: JsonObject, row: Parameters<typeof workOf>[0]) => {
  const { name, definitionVersion } = input;
  if (typeof name !== 'string' || typeof definitionVersion !== 'number') return [];
  return [[name, { work: workOf(row), definitionVersion }] as const];
};

async function idWithoutBody(c: Ctx, maxBodyBytes: number): Promise<string> {
  const id = workflowIdIn(c);
  (await readOptionalBody(c, maxBodyBytes)).refuseUnknown([]);
  return id;
}

async function shown(workflows: Workflows, id: string): Promise<JsonObject> {
  const [info, rows] = [await workflows.get(id), await rowsOf(workflows, id)];
  return jobToWire(info, rows);
}

async function failedIn(workflows: Workflows, id: string): Promise<string[]> {
  const tasks = tasksIn(await rowsOf(workflows, id));
  return tasks.filter((task) => statusOf(task) === 'failed').map(({ row }) => row.node!);
}

interface Asked {
  limit: number;
  cursor: string | undefined;
  status: JobStatus | undefined;
}

/** Newest first. A job that was looked at is told, so that the cursor leaves none out. */
async function listJobs({ workflows, jobs }: Waybill, { limit, cursor, status }: Asked) {
  const found: JsonObject[] = [];
  let next = cursor;
  for (let look = 0; look < MAX_LOOKS && found.length < limit; look += 1) {
    const page = await workflows.list({
      limit: limit - found.length,
      ...(next !== undefined && { cursor: next }),
      ...(status !== undefined && { states: STATES[status] }),
    });
    for (let from = 0; from < page.items.length; from += ABREAST) {
      const some = page.items.slice(from, from + ABREAST);
      found.push(
        ...(await Promise.all(some.map(summaryOf))).filter((job) => status === undefined || job.status === status),
      );
    }
    next = page.cursor;
    if (next === undefined) break;
  }
  return { jobs: found, next };

  async function summaryOf(record: WorkflowRecord) {
    const { id, name, state, createdAt, finishedAt } = record;
    const { total, hasFailures } = await countTasks(jobs, record);
    return {
      jobId: jobIdOf(id),
      ...(name !== null && { name }),
      ...{ status: jobStatusOf(state, hasFailures), totalTasks: total, createdAt: toRfc3339(createdAt) },
      ...(finishedAt !== null && { completedAt: toRfc3339(finishedAt) }),
    };
  }
}
