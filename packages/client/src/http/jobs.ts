import type { HeartbeatAnswer, Job, JobFilter, JobPage, Jobs, WorkerDirective } from '@waybill/core';
import { explanationFromWire } from '../explanation-wire.ts';
import { jobFromWire } from '../job-from-wire.ts';
import type { WireJob } from '../job-wire.ts';
import { progressFromWire, type WireProgress } from '../progress-wire.ts';
import { askToWire, questionFromWire, type WireQuestion } from '../question-wire.ts';
import { toRfc3339 } from '../time.ts';
import { path, type QueryValues } from './address.ts';
import { spending } from './budgets.ts';
import { type Calls, refuseWithin } from './calls.ts';
import { claiming } from './claim.ts';
import { enqueueing } from './enqueue.ts';
import { journal } from './journal.ts';
import { QUESTIONS } from './questions.ts';
import { RemoteError } from './remote-error.ts';
import { settleBody, settlePath } from './settle-call.ts';
import { wholeJob } from './whole-job.ts';

interface JobAnswer {
  job: WireJob;
}

export interface WireJobPage {
  jobs: WireJob[];
  pagination: { cursor?: string };
  unreadable?: string[];
}

interface WireBeat {
  directive: WorkerDirective;
  leases: { id: string; expires_at: string }[];
  jobs_lost: string[];
  server_time: string;
}

export function jobs(calls: Calls): Jobs {
  const jobOf = async (answer: Promise<JobAnswer>, tenant: string): Promise<Job> =>
    jobFromWire((await answer).job, calls.whose(tenant));
  return {
    ...enqueueing(calls),
    ...journal(calls),
    ...spending(calls),
    claim: claiming(calls),
    get: async (id, context) => {
      const tenant = calls.tenantOf(context);
      const { job } = await calls.call<JobAnswer>('GET', path`/ojs/v1/jobs/${id}`, { tenant });
      return wholeJob(calls, job, tenant);
    },
    explain: async (id, context) => {
      const tenant = calls.tenantOf(context);
      return explanationFromWire(await calls.call('GET', path`/ojs/v1/jobs/${id}/explain`, { tenant }));
    },
    list: async ({ filter = {}, limit, cursor } = {}) => {
      const tenant = calls.tenantOf(filter);
      const query = { ...filterQuery(filter), limit, cursor };
      return jobPage(calls, await calls.call('GET', '/ojs/v1/jobs', { tenant, query }), tenant);
    },
    heartbeat: async (call) => {
      const tenant = calls.tenantOf(call);
      const active_jobs = call.jobs.map(({ id, leaseToken: lease_token }) => ({ id, lease_token }));
      const { workerId: worker_id, instance, leaseMs: visibility_timeout_ms } = call;
      const body = { worker_id, instance, active_jobs, visibility_timeout_ms };
      // Extending twice is extending once.
      return heard(await calls.call('POST', '/ojs/v1/workers/heartbeat', { tenant, body, repeatable: true }));
    },
    settle: async (call) => {
      const tenant = calls.tenantOf(call);
      refuseWithin(call);
      // Without a token a repetition might settle the run of somebody else.
      const repeatable = call.leaseToken !== undefined;
      return jobOf(calls.call('POST', settlePath(call), { tenant, body: settleBody(call), repeatable }), tenant);
    },
    report: async (call) => {
      const tenant = calls.tenantOf(call);
      const { id, leaseToken: lease_token, workerId: worker_id, fraction: progress, data, checkpoint, number } = call;
      const body = { lease_token, worker_id, progress, data, checkpoint, number };
      // A report that counts itself is told once however often it is sent.
      const repeatable = number !== undefined;
      const where = path`/ojs/v1/jobs/${id}/progress`;
      const answer = await calls.call<WireProgress>('PUT', where, { tenant, body, repeatable });
      const noted = progressFromWire(answer, calls.whose(tenant));
      if (noted === null) throw new RemoteError({ code: 'conflict', message: `Job ${id} is not active.` });
      return noted;
    },
    progress: async (id, context) => {
      const tenant = calls.tenantOf(context);
      const known = await calls.call<WireProgress>('GET', path`/ojs/v1/jobs/${id}/progress`, { tenant });
      return progressFromWire(known, calls.whose(tenant));
    },
    ask: async (call) => {
      const tenant = calls.tenantOf(call);
      // A job asks each question once, however often it is sent.
      const options = { tenant, body: askToWire(call), repeatable: true };
      const { question } = await calls.call<{ question: WireQuestion }>('POST', QUESTIONS, options);
      return questionFromWire(question, calls.whose(tenant));
    },
    cancel: async (id, { by, reason, ...context } = {}) => {
      const tenant = calls.tenantOf(context);
      return jobOf(calls.call('DELETE', path`/ojs/v1/jobs/${id}`, { tenant, query: { by, reason } }), tenant);
    },
    activate: async (id, context) => {
      const tenant = calls.tenantOf(context);
      return jobOf(calls.call('POST', path`/ojs/v1/jobs/${id}/activate`, { tenant }), tenant);
    },
    retry: async (id, context) => {
      const tenant = calls.tenantOf(context);
      return jobOf(calls.call('POST', path`/ojs/v1/jobs/${id}/retry`, { tenant }), tenant);
    },
  };
}

export async function jobPage(calls: Calls, page: WireJobPage, tenant: string): Promise<JobPage> {
  const { cursor } = page.pagination;
  const { unreadable } = page;
  const items = await Promise.all(page.jobs.map((wire) => wholeJob(calls, wire, tenant)));
  return { items, ...(cursor !== undefined && { cursor }), ...(unreadable && { unreadable }) };
}

const heard = ({ directive, leases, jobs_lost: lost, server_time }: WireBeat): HeartbeatAnswer => ({
  directive,
  extended: leases.map(({ id, expires_at }) => ({ id, leaseUntil: Date.parse(expires_at) })),
  lost,
  now: Date.parse(server_time),
});

const filterQuery = (filter: Partial<JobFilter>): QueryValues => ({
  id_prefix: filter.idPrefix,
  state: filter.states,
  queue: filter.queues,
  type: filter.types,
  dead_letter: filter.dead,
  workflow_id: filter.workflowId,
  error_type: filter.errorType,
  created_after: momentOf(filter.createdAfter),
  created_before: momentOf(filter.createdBefore),
  finished_after: momentOf(filter.finishedAfter),
  finished_before: momentOf(filter.finishedBefore),
});

export const momentOf = (moment: number | undefined): string | undefined =>
  moment === undefined ? undefined : toRfc3339(moment);
