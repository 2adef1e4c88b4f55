import type { ServiceImpl } from '@connectrpc/connect';
import { jobToWire } from '@waybill/client';
import { timeOf } from '@waybill/client/rpc';
import { invalidField, type Job, type JobRequest, type Jobs, type Waybill, WaybillError } from '@waybill/core';
import type { EnqueueJobRequest, JobService, Job as RpcJob } from '@waybill/protocol';
import { checkTenantOf } from '../../http/port.ts';
import { LARGEST_TOLD, toldJob } from '../../ojs/told-job.ts';
import { withSideMessages } from '../../stream/side-messages.ts';
import type { Surface } from '../../surface.ts';
import { callOf, portFor, type RpcCall } from '../call.ts';
import { settleCallOf } from '../codec/complete.ts';
import { envelopeOf, requestIdOf } from '../codec/enqueue-request.ts';
import { jobIdOf } from '../codec/fields.ts';
import { jobToRpc, progressToRpc } from '../codec/job-codec.ts';
import { listJobs } from '../codec/list-request.ts';
import { readTaskToken } from '../codec/task-token.ts';
import { dequeueJobs, visibilityMsOf } from '../streams/dequeue.ts';
import { idleHeartbeat } from '../streams/idle-heartbeat.ts';
import { OpenStreams } from '../streams/outstanding.ts';

const MAX_BATCH = 1_000;
/** Whose heartbeat it is where the row names no worker; the token decides all the same. */
const NO_WORKER = 'rpc';

export function jobService(waybill: Waybill, surface: Surface): ServiceImpl<typeof JobService> {
  const streams = new OpenStreams();
  return {
    enqueueJob: async (request, context) => {
      const envelope = checked(request, callOf(context));
      const { job, created } = await portFor(context).jobs.enqueue(envelope, requestIdOf(request));
      return { job: changed(job, request), created };
    },

    enqueueJobs: async (request, context) => {
      if (request.jobs.length === 0 || request.jobs.length > MAX_BATCH)
        throw invalidField('jobs', `must have 1 to ${MAX_BATCH} jobs.`);
      const named = request.jobs.findIndex(({ requestId }) => requestId !== '');
      if (named >= 0)
        throw invalidField(`jobs[${named}].request_id`, 'has no meaning in a batch: give job ids instead.');
      const requests = request.jobs.map((job) => checked(job, callOf(context)));
      const stored = await portFor(context).jobs.enqueueMany(requests);
      return { jobs: stored.map((job) => changed(job, request)) };
    },

    getJob: async (request, context) => {
      const id = jobIdOf(request.jobId);
      const { jobs } = portFor(context);
      return { job: await looked(jobs, await jobs.get(id, apart(request)), request) };
    },

    listJobs: async (request, context) => {
      const { jobs } = portFor(context);
      const page = await listJobs(jobs, request, apart(request).overBytes);
      return {
        jobs: await Promise.all(page.items.map((job) => looked(jobs, job, request))),
        nextPageToken: page.cursor ?? '',
        lastPage: page.lastPage,
        lastPageIsExact: page.isExact,
        unreadable: page.unreadable ?? [],
      };
    },

    getProgress: async ({ jobId }, context) => {
      const id = jobIdOf(jobId);
      const { jobs } = portFor(context);
      const progress = await jobs.progress(id);
      return progress ? { progress: progressToRpc(progress) } : {};
    },

    cancelJob: async (request, context) => {
      const { by, reason } = request;
      const given = { ...(by !== undefined && { by: short(by) }), ...(reason !== undefined && { reason }) };
      return { job: changed(await portFor(context).jobs.cancel(jobIdOf(request.jobId), given), request) };
    },

    retryJob: async (request, context) => ({
      job: changed(await portFor(context).jobs.retry(jobIdOf(request.jobId)), request),
    }),

    activateJob: async (request, context) => ({
      job: changed(await portFor(context).jobs.activate(jobIdOf(request.jobId)), request),
    }),

    dequeueJobs: (request, context) =>
      withSideMessages(
        dequeueJobs(request, context, { waybill, surface, streams }),
        idleHeartbeat(context, surface, () => ({})),
      ),

    updateJobVisibility: async ({ queue, taskToken, visibilityTimeoutSeconds }, context) => {
      const task = readTaskToken(taskToken);
      if (queue !== '' && queue !== task.queue) throw invalidField('queue', 'is not the one that the token is for.');
      const leaseMs = visibilityMsOf({ visibilityTimeoutSeconds }, surface);
      // A worker need not have the right to read, so the row is read for it. The heartbeat decides what the caller is answered,
      // also of a job that is not there.
      const tenant = callOf(context).c.get('tenant') ?? '';
      const workerId = await workerOf(waybill, task.jobId, tenant);
      const beat = await portFor(context).jobs.heartbeat({
        ...{ workerId: workerId ?? NO_WORKER, strict: true },
        jobs: [{ id: task.jobId, leaseToken: task.leaseToken, queue: task.queue }],
        leaseMs,
      });
      const [extended] = beat.extended;
      if (!extended) throw new WaybillError('lease_lost', `Job ${task.jobId} is no longer held by this token.`);
      return { leaseExpiresAt: timeOf(extended.leaseUntil) };
    },

    completeJob: async (request, context) => {
      const job = await portFor(context).jobs.settle(settleCallOf(request));
      streams.ended(job);
      return { job: changed(job, request) };
    },
  };
}

interface Asked {
  withEnvelope: boolean;
}

function checked(request: EnqueueJobRequest, { c }: RpcCall): JobRequest {
  const envelope = envelopeOf(request);
  checkTenantOf(c, envelope);
  return envelope;
}

/** What a call has made of a job. */
const changed = (job: Job, { withEnvelope }: Asked): RpcJob => jobToRpc(job, withEnvelope ? jobToWire(job) : undefined);

/** A job for those who look at it: only an envelope can name the place of a payload that is too large for an answer. */
const looked = async (jobs: Jobs, job: Job, { withEnvelope }: Asked): Promise<RpcJob> =>
  jobToRpc(job, withEnvelope ? await toldJob(jobs, job) : undefined);

const apart = ({ withEnvelope }: Asked): { overBytes?: number } => (withEnvelope ? { overBytes: LARGEST_TOLD } : {});

const LONGEST_NAME = 255;

function short(by: string): string {
  if (by.length <= LONGEST_NAME) return by;
  throw invalidField('by', `must have at most ${LONGEST_NAME} characters.`);
}

/** Null: there is no such job, or no worker has it. */
async function workerOf({ jobs }: Waybill, id: string, tenant: string): Promise<string | null> {
  try {
    return (await jobs.get(id, { tenant, overBytes: 0 })).workerId;
  } catch (error) {
    if (error instanceof WaybillError && error.code === 'not_found') return null;
    throw error;
  }
}
