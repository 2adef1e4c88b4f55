import type { BudgetInfo } from '../budgets/budgets-port.ts';
import type { Job } from '../job/job.ts';
import { lastError } from '../job/job.ts';
import type { JsonObject } from '../json.ts';
import type { LimitRule } from '../limits/limit.ts';
import type { FailingItem } from '../maintenance/failing-items.ts';
import type { CronRecord } from '../store/crons.ts';
import type { QueueKeep } from '../store/queues.ts';
import type { WorkerDirective } from '../store/workers.ts';
import type { WorkflowRecord } from '../store/workflow-record.ts';
import type { SubjectEvent, SubjectEventType, Told } from './subject-event.ts';

// What the log says of everything that is not a job, in one place. The names in the data are the specification's.

/** Of whom or what, when, and by whom where that is known. */
interface Telling {
  tenant: string;
  at: number;
  by?: string | undefined;
}

const told = (type: SubjectEventType, subject: string, { tenant, at }: Telling, data: JsonObject): Told => ({
  ...{ type, tenant, subject, at, data },
});

export const queuePaused = (queue: string, paused: boolean, who: Telling): Told =>
  paused
    ? told('queue.paused', queue, who, { queue, ...(who.by !== undefined && { paused_by: who.by }) })
    : told('queue.resumed', queue, who, { queue, ...(who.by !== undefined && { resumed_by: who.by }) });

export const queueLimited = (queue: string, limit: LimitRule | null, who: Telling): Told =>
  told('queue.limit_changed', queue, who, {
    queue,
    concurrency: limit?.concurrency ?? null,
    rate: limit?.rate ? { limit: limit.rate.limit, period_ms: limit.rate.periodMs } : null,
  });

export const queueKept = (queue: string, keep: QueueKeep, who: Telling): Told =>
  told('queue.keep_changed', queue, who, { queue, keep });

type CronFact = 'registered' | 'enabled' | 'disabled' | 'removed';

export const cronChanged = (fact: CronFact, { tenant, ...cron }: CronRecord, at: number): Told =>
  told(`cron.${fact}`, cron.name, { tenant, at }, factsOf(cron));

export const cronTriggered = (cron: CronRecord, job: Job, tick: number, at: number): Told =>
  told(
    'cron.triggered',
    cron.name,
    { tenant: cron.tenant, at },
    {
      ...factsOf(cron),
      job_id: job.id,
      scheduled_at: new Date(tick).toISOString(),
    },
  );

/** `overlap_prevention`: the job of the tick before has not finished. `misfire`: nobody was there when the tick came. */
export const cronSkipped = (
  cron: CronRecord,
  reason: 'overlap_prevention' | 'misfire',
  tick: number,
  at: number,
): Told =>
  told(
    'cron.skipped',
    cron.name,
    { tenant: cron.tenant, at },
    {
      ...factsOf(cron),
      reason,
      ...(reason === 'overlap_prevention' && { existing_job_id: cron.lastJobId }),
      scheduled_at: new Date(tick).toISOString(),
    },
  );

const factsOf = ({ name, expression, timezone, template }: Omit<CronRecord, 'tenant'>): JsonObject => ({
  cron_name: name,
  cron_expr: expression,
  timezone,
  job_type: template['type']!,
});

/** The one event of a workflow that comes with a job, its first: so it needs no place given by the store. */
export const workflowStarted = (workflow: WorkflowRecord, first: Job): SubjectEvent => ({
  type: 'workflow.started',
  ...{ tenant: workflow.tenant, subject: workflow.id, jobId: first.id },
  ...{ source: 'server', sequence: 1, at: workflow.createdAt },
  data: { ...namesOf(workflow), total_steps: workflow.total },
});

/** Told by the change that completes the node, which happens once: so it is a source of its own. */
export const stepCompleted = (workflow: WorkflowRecord, node: Job, remaining: number): SubjectEvent => ({
  type: 'workflow.step_completed',
  ...{ tenant: workflow.tenant, subject: workflow.id, jobId: node.id },
  ...{ source: `job:${node.id}`, sequence: 1, at: node.finishedAt! },
  data: {
    ...namesOf(workflow),
    step_id: node.node ?? node.id,
    step_type: node.type,
    duration_ms: Math.max(0, node.finishedAt! - (node.startedAt ?? node.finishedAt!)),
    steps_remaining: remaining,
  },
});

export const workflowCompleted = (workflow: WorkflowRecord, at: number): Told =>
  told('workflow.completed', workflow.id, { tenant: workflow.tenant, at }, endOf(workflow, at));

/** `failed`: a node that did not complete. */
export function workflowFailed(workflow: WorkflowRecord, failed: Job | undefined, at: number): Told {
  const error = failed && lastError(failed);
  return told(
    'workflow.failed',
    workflow.id,
    { tenant: workflow.tenant, at },
    {
      ...endOf(workflow, at),
      failed_step_id: failed ? (failed.node ?? failed.id) : null,
      failed_step_type: failed?.type ?? null,
      error: error
        ? { code: error.code, message: error.message }
        : { code: failed?.state ?? 'unknown', message: 'The step ended without an error of its own.' },
      ...(workflow.reason !== null && { reason: workflow.reason }),
    },
  );
}

export const workflowMoved = (fact: 'cancelled' | 'resumed', workflow: WorkflowRecord, at: number): Told =>
  told(`workflow.${fact}`, workflow.id, { tenant: workflow.tenant, at }, namesOf(workflow));

const namesOf = ({ id, name }: WorkflowRecord): JsonObject => ({ workflow_id: id, workflow_name: name ?? id });

const endOf = (workflow: WorkflowRecord, at: number): JsonObject => ({
  ...namesOf(workflow),
  total_steps: workflow.total,
  duration_ms: Math.max(0, at - workflow.createdAt),
});

export const workerStarted = (id: string, activeJobs: number, who: Telling): Told =>
  told('worker.started', id, who, { worker_id: id, active_jobs: activeJobs });

/** Something that the sweep looks after and cannot deal with. Jobs whose rows can take a note tell of it themselves. */
export const maintenanceFailed = ({ kind, tenant, id, reason, failures, nextTryAt }: FailingItem, at: number): Told =>
  told(
    'maintenance.failed',
    `${kind}:${id}`,
    { tenant, at },
    {
      ...{ kind, id, reason, failures, next_try_at: new Date(nextTryAt).toISOString() },
    },
  );

const DIRECTED = { running: 'worker.resumed', quiet: 'worker.quiet', terminate: 'worker.terminating' } as const;

export const workerDirected = (id: string, directive: WorkerDirective, who: Telling): Told =>
  told(DIRECTED[directive], id, who, { worker_id: id });

/** Told once of each budget and period. `jobId`: the job whose spending has reached the level. */
export const budgetLevelReached = (
  level: 'warned' | 'exceeded',
  { tenant, id, key, unit, period, limit, spent, left, endsAt }: BudgetInfo,
  jobId: string,
  at: number,
): Told =>
  told(
    `budget.${level}`,
    id,
    { tenant, at },
    {
      ...{ budget: id, key, unit, period, limit, spent, left, job_id: jobId },
      ends_at: endsAt === null ? null : new Date(endsAt).toISOString(),
    },
  );
