import type { Job, JobRequest, Jobs, JsonObject } from '@waybill/core';
import { jobFromWire } from '../job-from-wire.ts';
import type { WireJob } from '../job-wire.ts';
import { metaFromWire } from '../tenant-wire.ts';
import { path } from './address.ts';
import { type Calls, type Named, refuseWithin } from './calls.ts';
import { newJobId } from './job-id.ts';
import { invalid, RemoteError } from './remote-error.ts';

const KEY = /^[\x20-\x7e]{1,255}$/;
/** Rows that are looked up at once. */
const ABREAST = 20;

interface JobAnswer {
  job: WireJob;
}

/** A request with the id that makes it repeatable. */
interface Identified {
  request: JobRequest & { id: string };
  /** Whether the id is ours: then nobody else can have stored it. */
  isMade: boolean;
}

/** How requests with ids travel, and how a job is looked up. */
export interface EnqueueCalls {
  tenantOf(call: Named | undefined): string;
  one(request: NamedRequest, sending: Sending & { key: string | undefined }): Promise<{ job: Job; created: boolean }>;
  many(requests: readonly NamedRequest[], sending: Sending): Promise<Job[]>;
  stored(id: string, tenant: string): Promise<Job>;
}

export type NamedRequest = Identified['request'];

export interface Sending {
  tenant: string;
  repeats: Repeats;
}

interface Repeats {
  repeatable: true;
  onRepeat(): void;
}

export const enqueueing = (calls: Calls): Pick<Jobs, 'enqueue' | 'enqueueMany'> =>
  enqueueingBy({
    tenantOf: (call) => calls.tenantOf(call),
    one: async (body, { tenant, key, repeats }) => {
      const answer = await calls.send<JobAnswer>('POST', '/ojs/v1/jobs', {
        ...{ tenant, body, ...repeats },
        ...(key !== undefined && { headers: { 'Idempotency-Key': key } }),
      });
      return { job: jobFromWire(answer.body.job, calls.whose(tenant)), created: answer.status === 201 };
    },
    many: async (jobs, { tenant, repeats }) => {
      const options = { tenant, body: { jobs }, ...repeats };
      const answer = await calls.call<{ jobs: WireJob[] }>('POST', '/ojs/v1/jobs/batch', options);
      return answer.jobs.map((job) => jobFromWire(job, calls.whose(tenant)));
    },
    stored: async (id, tenant) =>
      jobFromWire((await calls.call<JobAnswer>('GET', path`/ojs/v1/jobs/${id}`, { tenant })).job, calls.whose(tenant)),
  });

/** Every job is sent with an id, so that a repetition of our own meets what it stored before. */
export function enqueueingBy(calls: EnqueueCalls): Pick<Jobs, 'enqueue' | 'enqueueMany'> {
  const { stored } = calls;

  const enqueue: Jobs['enqueue'] = async (request, context) => {
    const tenant = calls.tenantOf(context);
    refuseWithin(context);
    const named = name(request);
    const key = context?.idempotencyKey;
    if (key !== undefined && !KEY.test(key))
      throw invalid('An idempotency key must have 1 to 255 printable ASCII characters.');
    const repeats = repetitions();
    try {
      const { job, created } = await calls.one(named.request, { tenant, key, repeats: repeats.options });
      const isOurs = repeats.any() && named.isMade && job.id === named.request.id;
      return { job, created: created || isOurs };
    } catch (error) {
      if (!repeats.any() || existingIn(error) !== named.request.id) throw error;
      const job = await stored(named.request.id, tenant);
      if (!isOurs(named, job)) throw error;
      return { job, created: true };
    }
  };

  const enqueueMany: Jobs['enqueueMany'] = async (requests, context) => {
    const tenant = calls.tenantOf(context);
    refuseWithin(context);
    const all = requests.map(name);
    const repeats = repetitions();
    const named = all.map(({ request }) => request);
    try {
      return await calls.many(named, { tenant, repeats: repeats.options });
    } catch (error) {
      const met = repeats.any() && all.find(({ request }) => request.id === existingIn(error));
      // All or nothing: when one of them is ours, all of them are there.
      if (!met || !isOurs(met, await stored(met.request.id, tenant))) throw error;
      return inSlices(named, (request) => storedOrOther(request, tenant));
    }
  };

  /** A uniqueness rule may have let another job stand for this one; sent by itself it meets that one again. */
  const storedOrOther = async (request: Identified['request'], tenant: string): Promise<Job> => {
    try {
      return await stored(request.id, tenant);
    } catch (error) {
      if (!(error instanceof RemoteError) || error.code !== 'not_found') throw error;
      return (await enqueue(request, { tenant })).job;
    }
  };

  return { enqueue, enqueueMany };
}

function name(request: JobRequest): Identified {
  const id: string | null | undefined = request?.id;
  return { request: { ...request, id: id ?? newJobId() }, isMade: id === undefined || id === null };
}

function repetitions() {
  let count = 0;
  const onRepeat = () => {
    count += 1;
  };
  const options: Repeats = { repeatable: true, onRepeat };
  return { any: () => count > 0, options };
}

const existingIn = (error: unknown): unknown =>
  error instanceof RemoteError && error.code === 'duplicate' ? error.details?.['existing_job_id'] : undefined;

/** Without the trace: a server that is instrumented notes it in jobs that came without one. */
const untraced = ({ traceparent: _, tracestate: __, ...meta }: JsonObject): JsonObject => meta;

/** An id of the caller's own may have been taken by another job before; ours is the one that says the same. */
function isOurs({ request, isMade }: Identified, { tenant, type, spec }: Job): boolean {
  const says = (...told: unknown[]) => canonical(JSON.parse(JSON.stringify(told)));
  return (
    isMade ||
    says(request.type, request.args, untraced(metaFromWire(request.meta ?? {}, tenant))) ===
      says(type, spec.args, untraced(spec.meta))
  );
}

/** The same text for the same JSON, whatever order a store gives its keys back in. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}

async function inSlices<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  for (let from = 0; from < items.length; from += ABREAST)
    done.push(...(await Promise.all(items.slice(from, from + ABREAST).map(work))));
  return done;
}
