import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Job, JobFilter, JobPage, Jobs, Lease, Progress, ReportCall, WorkerDirective } from '@waybill/core';
import {
  JobService,
  type ListJobsRequestSchema,
  type Job as RpcJob,
  type Lease as RpcLease,
  type Progress as RpcProgress,
  WorkerService,
} from '@waybill/protocol';
import { refuseWithin } from '../http/calls.ts';
import { claimingBy, leaseOf } from '../http/claim.ts';
import { RemoteError } from '../http/remote-error.ts';
import type { WireJob } from '../job-wire.ts';
import { enqueueing, jobIn, storedJob } from './enqueue.ts';
import { journal } from './journal.ts';
import { outcomeToRpc } from './outcome.ts';
import { askToRpc, questionFromRpc } from './questions.ts';
import type { RpcCalls } from './rpc-calls.ts';
import { countIn, limitIn, namesIn, plainJson, refused, textIn } from './sent.ts';
import { spending } from './spending.ts';
import { refuse } from './unsupported.ts';
import { countOf, durationOf, msOf, timeOf } from './values.ts';

const { listJobs, getProgress, cancelJob, retryJob, activateJob } = JobService.method;
const { claim, heartbeat, settle, report, ask } = WorkerService.method;

const MOST_LISTED = 1_000;
/** On one page of a server. */
const PAGE = 100;
const DEFAULT_LISTED = 50;

export function jobs(calls: RpcCalls): Jobs {
  const jobOf = async (answer: Promise<{ job?: RpcJob | undefined }>, tenant: string): Promise<Job> =>
    jobIn(calls, (await answer).job, tenant);
  return {
    ...enqueueing(calls),
    ...journal(calls),
    ...spending(calls),
    claim: claimingBy(calls, async ({ tenant, signal, waitMs, leaseMs, ...call }) => {
      const input = {
        ...{ queues: namesIn(call.queues, 'queues'), count: countIn(call.count, 'count'), claimId: call.claimId },
        ...{ workerId: call.workerId ?? '', wait: durationOf(waitMs), withEnvelope: true },
        ...leaseIn(leaseMs),
      };
      const options = { tenant, repeatable: true, waitMs, ...(signal && { signal }) };
      const { leases } = await calls.call(claim, input, options);
      return leases.map((lease) => leaseFromRpc(calls, lease, call.claimId, tenant));
    }),
    explain: async () => refuse('jobs.explain'),
    get: async (id, context) => storedJob(calls, id, calls.tenantOf(context)),
    list: async ({ filter = {}, limit, cursor } = {}) => {
      const tenant = calls.tenantOf(filter);
      const asked = filterOf(filter);
      const most = limitIn(limit, MOST_LISTED) ?? DEFAULT_LISTED;
      return pages(most, cursor, async (pageSize, pageToken) => {
        const page = await calls.call(listJobs, { ...asked, pageSize, pageToken, withEnvelope: true }, { tenant });
        const items = await Promise.all(page.jobs.map((job) => jobIn(calls, job, tenant)));
        const { nextPageToken, unreadable } = page;
        return { items, ...(nextPageToken && { cursor: nextPageToken }), ...(unreadable.length > 0 && { unreadable }) };
      });
    },
    heartbeat: async (call) => {
      const tenant = calls.tenantOf(call);
      const { workerId, instance, leaseMs } = call;
      const held = call.jobs.map(({ id, leaseToken }) => ({ jobId: textIn(id, 'id'), ...optional({ leaseToken }) }));
      const input = {
        workerId: textIn(workerId, 'workerId'),
        ...optional({ instance }),
        jobs: held,
        ...leaseIn(leaseMs),
      };
      // Extending twice is extending once.
      const beat = await calls.call(heartbeat, input, { tenant, repeatable: true });
      return {
        directive: beat.directive as WorkerDirective,
        extended: beat.extended.map(({ jobId, leaseExpiresAt }) => ({
          id: jobId,
          leaseUntil: momentIn(leaseExpiresAt),
        })),
        lost: beat.lost,
        now: momentIn(beat.serverTime),
      };
    },
    settle: async (call) => {
      const tenant = calls.tenantOf(call);
      refuseWithin(call);
      const { id, leaseToken, workerId } = call;
      const outcome = outcomeToRpc(plainJson(call.outcome));
      const input = { jobId: textIn(id, 'id'), ...optional({ leaseToken, workerId }), outcome, withEnvelope: true };
      // Without a token a repetition might settle the run of another worker.
      return jobOf(calls.call(settle, input, { tenant, repeatable: leaseToken !== undefined }), tenant);
    },
    report: async (call) => {
      const tenant = calls.tenantOf(call);
      // A report with a number is stored once however often it is sent.
      const repeatable = call.number !== undefined;
      const { progress } = await calls.call(report, reportOf(call), { tenant, repeatable });
      if (progress) return progressOf(progress, calls.whose(tenant));
      throw new RemoteError({ code: 'conflict', message: `Job ${call.id} is not active.` });
    },
    progress: async (id, context) => {
      const tenant = calls.tenantOf(context);
      const { progress } = await calls.call(getProgress, { jobId: textIn(id, 'id') }, { tenant });
      return progress ? progressOf(progress, calls.whose(tenant)) : null;
    },
    ask: async (call) => {
      const tenant = calls.tenantOf(call);
      // A job asks each question once, however often it is sent.
      const { question } = await calls.call(ask, askToRpc(call), { tenant, repeatable: true });
      return questionFromRpc(question, calls.whose(tenant));
    },
    cancel: async (id, { by, reason, ...context } = {}) => {
      const tenant = calls.tenantOf(context);
      const input = { jobId: textIn(id, 'id'), ...optional({ by, reason }), withEnvelope: true };
      return jobOf(calls.call(cancelJob, input, { tenant }), tenant);
    },
    activate: async (id, context) => {
      const tenant = calls.tenantOf(context);
      return jobOf(calls.call(activateJob, { jobId: textIn(id, 'id'), withEnvelope: true }, { tenant }), tenant);
    },
    retry: async (id, context) => {
      const tenant = calls.tenantOf(context);
      return jobOf(calls.call(retryJob, { jobId: textIn(id, 'id'), withEnvelope: true }, { tenant }), tenant);
    },
  };
}

/** A server's pages are smaller than what the port answers at once. One that is short and has a cursor ends it, too. */
async function pages(
  most: number,
  from: string | undefined,
  read: (size: number, cursor: string) => Promise<JobPage>,
): Promise<JobPage> {
  let { items, cursor, unreadable }: JobPage = await read(Math.min(most, PAGE), from ?? '');
  while (cursor !== undefined && items.length < most) {
    const next = await read(Math.min(most - items.length, PAGE), cursor);
    if (next.items.length === 0 && next.unreadable === undefined) break;
    items = [...items, ...next.items];
    ({ cursor } = next);
    if (next.unreadable) unreadable = [...(unreadable ?? []), ...next.unreadable];
  }
  return { items, ...(cursor !== undefined && { cursor }), ...(unreadable && { unreadable }) };
}

function leaseFromRpc(calls: RpcCalls, { job, leaseToken }: RpcLease, claimId: string, tenant: string): Lease {
  const envelope = job?.envelope as unknown as WireJob | undefined;
  if (!envelope)
    throw new RemoteError({ code: 'internal', message: `${calls.server} has answered a lease without a job.` });
  return { ...leaseOf(envelope, claimId, calls.whose(tenant)), token: leaseToken };
}

function filterOf(filter: Partial<JobFilter>): MessageInitShape<typeof ListJobsRequestSchema> {
  const { idPrefix, states, queues, types, dead, workflowId, errorType } = filter;
  const { createdAfter, createdBefore, finishedAfter, finishedBefore } = filter;
  for (const [name, text] of Object.entries({ idPrefix, workflowId, errorType }))
    if (text === '') throw refused(name, 'must not be empty.');
  return {
    exactStates: namesIn(states, 'states'),
    queues: namesIn(queues, 'queues'),
    types: namesIn(types, 'types'),
    ...optional({ idPrefix, workflowId, errorType, deadLetter: dead }),
    ...(createdAfter !== undefined && { createdAfter: timeOf(createdAfter) }),
    ...(createdBefore !== undefined && { createdBefore: timeOf(createdBefore) }),
    ...(finishedAfter !== undefined && { finishedAfter: timeOf(finishedAfter) }),
    ...(finishedBefore !== undefined && { finishedBefore: timeOf(finishedBefore) }),
  };
}

function reportOf({ id, leaseToken, workerId, number, fraction, data, checkpoint }: ReportCall) {
  return {
    jobId: textIn(id, 'id'),
    ...optional({ leaseToken, workerId, fraction }),
    ...(number !== undefined && { number: numberIn(number) }),
    ...(data !== undefined && { data: plainJson(data) }),
    ...(checkpoint !== undefined && { checkpoint: plainJson(checkpoint) }),
  };
}

function progressOf(progress: RpcProgress, tenant: string): Progress {
  const { jobId: id, run, number, sequence, fraction = null, data = null, checkpoint = null, reportedAt } = progress;
  return {
    ...{ tenant, id, run, number: countOf(number, 'number'), sequence: countOf(sequence, 'sequence'), fraction },
    ...{ data: data as Progress['data'], checkpoint: checkpoint as Progress['checkpoint'], at: momentIn(reportedAt) },
  };
}

function numberIn(number: number): bigint {
  if (Number.isSafeInteger(number) && number >= 1) return BigInt(number);
  throw refused('number', 'must be a whole number from 1 on.');
}

function leaseIn(leaseMs: number | undefined) {
  if (leaseMs === undefined) return {};
  if (Number.isFinite(leaseMs)) return { lease: durationOf(leaseMs) };
  throw refused('leaseMs', 'must be a number of milliseconds.');
}

const momentIn = (time: Parameters<typeof msOf>[0] | undefined): number => (time ? msOf(time, 'time') : 0);

/** Without what is undefined. */
function optional<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
