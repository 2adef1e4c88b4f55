import { type Fields, MAX_FEEDBACK, MAX_ITERATIONS, WaybillError } from '@waybill/core';
import { answer } from '../http/answer.ts';
import { readBody, readOptionalBody } from '../http/body.ts';
import type { App } from '../http/env.ts';
import { portOf } from '../http/port.ts';
import { Query } from '../http/query.ts';
import { readLog } from '../ojs/events.ts';
import type { Surface } from '../surface.ts';
import { needAdmin } from './callers.ts';
import { taskIdIn, taskOf, workflowIdIn } from './job-rows.ts';
import { jobIdsOf, TOLD_TYPES, taskEventToWire } from './task-events.ts';
import type { TaskRows } from './task-rows.ts';
import { statusOf } from './task-status.ts';
import { inWords, jobIdOf } from './task-words.ts';

const DEFAULT_LIMIT = 100;
const MAX_REVIEWER = 256;

/** What happened to one task of a job, and what somebody decides about it. */
export function taskRoutes(app: App, { maxBodyBytes }: Surface, base: string): void {
  const path = `${base}/jobs/:jobId/tasks/:taskId`;

  app.get(
    `${path}/events`,
    inWords(async (c) => {
      const [id, taskId] = [workflowIdIn(c), taskIdIn(c)];
      const query = new Query(c, ['limit', 'cursor']);
      const limit = query.limit(DEFAULT_LIMIT);
      const after = query.string('cursor', { max: 4_096 });
      const { workflows, events: log } = portOf(c);
      const task = await taskOf(workflows, id, taskId);
      const filter = { jobIds: jobIdsOf(task), types: TOLD_TYPES };
      const page = await readLog(log, { filter, ...(after !== undefined && { after }) }, limit);
      const jobId = jobIdOf(id);
      const events = page.events.flatMap((event) => taskEventToWire(event, task, jobId) ?? []);
      return answer(c, { taskId, jobId, events, nextCursor: page.atEnd ? null : page.cursor });
    }),
  );

  app.post(
    `${path}/retry`,
    inWords(async (c) => {
      const [id, taskId] = [workflowIdIn(c), taskIdIn(c)];
      await needAdmin(c, 'workflows.resume', id);
      (await readOptionalBody(c, maxBodyBytes)).refuseUnknown([]);
      const { workflows } = portOf(c);
      await workflows.resume(id, { nodes: [taskId] });
      return answer(c, { jobId: jobIdOf(id), taskId, status: statusOf(await taskOf(workflows, id, taskId)) });
    }),
  );

  app.post(
    `${path}/approve`,
    inWords(async (c) => {
      const [id, taskId] = [workflowIdIn(c), taskIdIn(c)];
      await needAdmin(c, 'workflows.approve', id);
      const body = await readOptionalBody(c, maxBodyBytes);
      body.refuseUnknown(['comment', 'reviewer', 'iteration']);
      const comment = body.string('comment', { max: MAX_FEEDBACK });
      const approval = { ...iterationIn(body), ...(comment !== undefined && { comment }) };
      const by = reviewerIn(body);
      const { workflows } = portOf(c);
      mustHaveReview(await taskOf(workflows, id, taskId));
      await workflows.approve(id, taskId, approval, by);
      return answer(c, { taskId, status: 'approved' });
    }),
  );

  app.post(
    `${path}/request-revision`,
    inWords(async (c) => {
      const [id, taskId] = [workflowIdIn(c), taskIdIn(c)];
      await needAdmin(c, 'workflows.requestRevision', id);
      const body = await readBody(c, maxBodyBytes);
      body.refuseUnknown(['feedback', 'reviewer', 'iteration']);
      const feedback = body.requiredString('feedback', { max: MAX_FEEDBACK });
      const by = reviewerIn(body);
      const asked = iterationIn(body);
      const { workflows } = portOf(c);
      const task = await taskOf(workflows, id, taskId);
      mustHaveReview(task);
      // The one that was looked at: a second reviewer's feedback must not be about a round that nobody has seen.
      const iteration = asked.iteration ?? task.row.waiting?.iteration ?? task.iteration;
      await workflows.requestRevision(id, taskId, { feedback, iteration }, by);
      return answer(c, { taskId, status: 'revision_requested', iteration: iteration + 1 });
    }),
  );
}

function mustHaveReview({ row }: TaskRows): void {
  if (row.spec.rules?.review !== undefined) return;
  throw new WaybillError('conflict', `Task '${row.node}' is not in review: it was made without 'requiresReview'.`, {
    details: { taskId: row.node, state: row.state },
  });
}

function reviewerIn(body: Fields): { by?: string } {
  const by = body.string('reviewer', { max: MAX_REVIEWER });
  return by === undefined || by === '' ? {} : { by };
}

function iterationIn(body: Fields): { iteration?: number } {
  const iteration = body.integer('iteration', { min: 1, max: MAX_ITERATIONS });
  return iteration === undefined ? {} : { iteration };
}
