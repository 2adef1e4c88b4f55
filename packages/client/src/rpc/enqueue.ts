import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Job, Jobs, JsonObject } from '@waybill/core';
import { type EnqueueJobRequestSchema, JobService, type Job as RpcJob } from '@waybill/protocol';
import { enqueueingBy, type NamedRequest } from '../http/enqueue.ts';
import { RemoteError } from '../http/remote-error.ts';
import { wholeJob } from '../http/whole-job.ts';
import type { WireJob } from '../job-wire.ts';
import type { RpcCalls } from './rpc-calls.ts';
import { listIn, objectIn, plainJson, textIn } from './sent.ts';
import { toListValue } from './values.ts';

const { enqueueJob, enqueueJobs, getJob } = JobService.method;

/** As the HTTP client does it: every job has an id, so that a repetition of our own meets what it stored before. */
export const enqueueing = (calls: RpcCalls): Pick<Jobs, 'enqueue' | 'enqueueMany'> =>
  enqueueingBy({
    tenantOf: (call) => calls.tenantOf(call),
    one: async (request, { tenant, key, repeats }) => {
      const input = { ...requestOf(request), withEnvelope: true, ...(key !== undefined && { requestId: key }) };
      const { job, created } = await calls.call(enqueueJob, input, { tenant, ...repeats });
      return { job: await jobIn(calls, job, tenant), created };
    },
    many: async (requests, { tenant, repeats }) => {
      const input = { jobs: requests.map(requestOf), withEnvelope: true };
      const { jobs } = await calls.call(enqueueJobs, input, { tenant, ...repeats });
      return Promise.all(jobs.map((job) => jobIn(calls, job, tenant)));
    },
    stored: (id, tenant) => storedJob(calls, id, tenant),
  });

export async function storedJob(calls: RpcCalls, id: string, tenant: string): Promise<Job> {
  const { job } = await calls.call(getJob, { jobId: textIn(id, 'id'), withEnvelope: true }, { tenant });
  return jobIn(calls, job, tenant);
}

/** The row as the HTTP interface answers it, so that both protocols answer the same. */
export function jobIn(calls: RpcCalls, job: RpcJob | undefined, tenant: string): Promise<Job> {
  const envelope = job?.envelope as unknown as WireJob | undefined;
  if (envelope) return wholeJob(calls, envelope, tenant);
  throw new RemoteError({ code: 'internal', message: `The server ${calls.server} has answered without a job.` });
}

function requestOf(request: NamedRequest): MessageInitShape<typeof EnqueueJobRequestSchema> {
  const { type, args, id, meta, options, ...extra } = plainJson(request) as Record<string, unknown>;
  const list = listIn(args, 'args');
  const [about, how] = [objectIn(meta, 'meta'), objectIn(options, 'options')];
  return {
    type: textIn(type, 'type'),
    ...(list && { args: toListValue(list) }),
    jobId: textIn(id, 'id'),
    ...(about && { meta: about as JsonObject }),
    ...(how && { options: how as JsonObject }),
    ...(Object.keys(extra).length > 0 && { extra: extra as JsonObject }),
  };
}
