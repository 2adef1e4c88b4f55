import { create, type JsonObject, type MessageInitShape } from '@bufbuild/protobuf';
import { leaseToWire, revisionToWire, type WireJob } from '@waybill/client';
import { durationOf, stateToRpc, timeOf, toListValue, toValue } from '@waybill/client/rpc';
import type { Job, JobError, Lease, Progress } from '@waybill/core';
import {
  JobErrorSchema,
  JobSchema,
  LeaseSchema,
  ProgressSchema,
  type Job as RpcJob,
  type JobError as RpcJobError,
  type Lease as RpcLease,
  type Progress as RpcProgress,
} from '@waybill/protocol';
import { taskToken } from './task-token.ts';

/** A job in typed fields; with an envelope, which has them too, its payloads stand there alone. */
export function jobToRpc(job: Job, envelope?: WireJob): RpcJob {
  const { spec } = job;
  const isActive = job.state === 'active';
  const isDue = job.state === 'scheduled' || job.state === 'retryable';
  return create(JobSchema, {
    jobId: job.id,
    type: job.type,
    queue: job.queue,
    state: stateToRpc(job.state),
    exactState: job.state,
    priority: job.priority,
    attempt: job.attempt,
    maxAttempts: job.maxAttempts,
    run: job.run,
    createdAt: timeOf(job.createdAt),
    ...moment('enqueuedAt', job.enqueuedAt),
    ...moment('scheduledAt', isDue ? job.scheduledAt : null),
    ...moment('startedAt', job.startedAt),
    ...moment('finishedAt', job.finishedAt),
    ...moment('expiresAt', job.expiresAt),
    ...(job.timeoutMs !== null && { timeout: durationOf(job.timeoutMs) }),
    tags: spec.tags ?? [],
    ...(isActive && { workerId: job.workerId ?? '', ...moment('leaseExpiresAt', job.leaseUntil) }),
    workflowId: job.workflowId ?? '',
    node: job.node ?? '',
    deadLetter: job.dead,
    ...(envelope ? { envelope: envelope as unknown as JsonObject } : payloadsOf(job)),
  });
}

const payloadsOf = ({ spec, result, errors }: Job) => ({
  args: toListValue(spec.args),
  meta: spec.meta,
  ...(result !== null && { result: toValue(result) }),
  errors: errors.map(errorToRpc),
});

function errorToRpc({ details, occurredAt, retryable, type = '', ...error }: JobError): RpcJobError {
  return create(JobErrorSchema, {
    ...{ code: error.code, message: error.message, type, attempt: error.attempt, run: error.run },
    occurredAt: timeOf(occurredAt),
    ...(retryable !== undefined && { retryable }),
    ...(details !== undefined && { details: toValue(details) }),
  });
}

const moment = <N extends string>(name: N, ms: number | null) =>
  (ms === null ? {} : { [name]: timeOf(ms) }) as { [K in N]?: ReturnType<typeof timeOf> };

/** A worker gets its job whole. */
export function leaseToRpc(lease: Lease, withEnvelope: boolean): RpcLease {
  const { job, token, parentResults, revision, checkpoint } = lease;
  const envelope = withEnvelope ? leaseToWire(lease) : undefined;
  const tokens = { taskToken: taskToken(lease), leaseToken: token };
  if (envelope) return create(LeaseSchema, { job: jobToRpc(job, envelope), ...tokens });
  return create(LeaseSchema, {
    ...{ job: jobToRpc(job), ...tokens },
    ...(parentResults && { parentResults: toListValue(parentResults) }),
    ...(revision && { revision: { ...revisionToWire(revision), previous: revision.previous } as JsonObject }),
    ...(checkpoint && { checkpoint }),
  });
}

export function progressToRpc(progress: Progress): RpcProgress {
  const { id: jobId, run, number, sequence, fraction, data, checkpoint, at } = progress;
  const init: MessageInitShape<typeof ProgressSchema> = {
    ...{ jobId, run, number: BigInt(number), sequence: BigInt(sequence), reportedAt: timeOf(at) },
    ...(fraction !== null && { fraction }),
    ...(data && { data }),
    ...(checkpoint && { checkpoint }),
  };
  return create(ProgressSchema, init);
}
