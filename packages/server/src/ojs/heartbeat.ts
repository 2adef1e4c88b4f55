import { toRfc3339 } from '@waybill/client';
import {
  Fields,
  type HeartbeatAnswer,
  type HeartbeatCall,
  invalidField,
  isJobId,
  isObject,
  type Jobs,
  type Json,
  WORKER_DIRECTIVES,
  type WorkerDirective,
} from '@waybill/core';
import type { Surface } from '../surface.ts';
import { jobIdOf, leaseMsOf, leaseTokenOf, workerIdOf } from './fields.ts';

const BOUND = { max: 1_000 };
const MAX_INSTANCE = 256;

export async function beat(jobs: Jobs, { testDirectives }: Surface, body: Fields): Promise<object> {
  const heard = await jobs.heartbeat(readBeat(body));
  const directive = (testDirectives && (await testDirective(jobs, heard))) || heard.directive;
  return {
    state: directive,
    directive,
    jobs_extended: heard.extended.map(({ id }) => id),
    leases: heard.extended.map(({ id, leaseUntil }) => ({ id, expires_at: toRfc3339(leaseUntil) })),
    jobs_lost: heard.lost,
    server_time: toRfc3339(heard.now),
  };
}

function readBeat(body: Fields): HeartbeatCall {
  const { workerId } = workerIdOf(body);
  if (workerId === undefined) throw invalidField('worker_id', 'is required.');
  const instance = body.string('instance', { max: MAX_INSTANCE });
  const named = instance !== undefined && { instance };
  return { workerId, jobs: activeJobsOf(body), ...named, ...leaseMsOf(body) };
}

/**
 * The HTTP binding has the jobs in `active_jobs`; the worker protocol has their number there, and their ids in
 * `active_job_ids`. A worker may send both lists; only the first has room for tokens.
 */
function activeJobsOf(body: Fields): HeartbeatCall['jobs'] {
  const isCount = typeof body.value('active_jobs') === 'number';
  if (isCount) body.integer('active_jobs', { min: 0, max: Number.MAX_SAFE_INTEGER });
  const jobs = ((isCount ? undefined : body.array('active_jobs', BOUND)) ?? []).map(activeJob);
  const named = new Set(jobs.map(({ id }) => id));
  const ids = (body.array('active_job_ids', BOUND) ?? []).map(activeId);
  return [...jobs, ...ids.filter((id) => !named.has(id)).map((id) => ({ id }))];
}

function activeId(id: Json, index: number): string {
  if (typeof id === 'string' && isJobId(id)) return id;
  throw invalidField(`active_job_ids[${index}]`, 'must be a UUIDv7 in lower case.');
}

/** A bare id, or one with the token of its run. */
function activeJob(item: Json, index: number): HeartbeatCall['jobs'][number] {
  const name = `active_jobs[${index}]`;
  if (isObject(item)) {
    const fields = new Fields(item, name);
    return { id: jobIdOf(fields, 'id'), ...leaseTokenOf(fields) };
  }
  if (typeof item === 'string' && isJobId(item)) return { id: item };
  throw invalidField(name, 'must be a UUIDv7 in lower case, or an object with id and lease_token.');
}

/** The suites have no other way to steer a worker than through a job that it holds. */
async function testDirective(jobs: Jobs, { extended }: HeartbeatAnswer): Promise<WorkerDirective | undefined> {
  for (const { id } of extended) {
    const metadata = (await jobs.get(id)).spec.options?.['metadata'];
    const asked = isObject(metadata) ? metadata['test_directive'] : undefined;
    const directive = WORKER_DIRECTIVES.find((known) => known === asked);
    if (directive !== undefined) return directive;
  }
  return undefined;
}
