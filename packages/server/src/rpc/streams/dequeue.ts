import { create } from '@bufbuild/protobuf';
import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect';
import { invalidField, type Jobs, type Lease, newJobId, type Waybill } from '@waybill/core';
import { type DequeueJobsRequest, type DequeueJobsResponse, DequeueJobsResponseSchema } from '@waybill/protocol';
import { LONGEST_WAIT_MS, MAX_COUNT, mayTake } from '../../ojs/fetch.ts';
import type { Surface } from '../../surface.ts';
import { callOf, portFor, stay } from '../call.ts';
import { secondsOf, workerIdOf } from '../codec/fields.ts';
import { leaseToRpc } from '../codec/job-codec.ts';
import { checkQueues } from '../services/claim.ts';
import { HeldAlive } from './held-alive.ts';
import { type OpenStreams, Outstanding } from './outstanding.ts';

/** Claimed and not yet written, a job waits; so a stream takes few at once. */
const MOST_AT_ONCE = 10;
const UNDELIVERED = { code: 'undelivered', message: 'The stream of the worker ended before it had the job.' };
const FOREVER = Number.POSITIVE_INFINITY;

interface DequeueParts {
  waybill: Waybill;
  surface: Surface;
  streams: OpenStreams;
}

/**
 * Sends jobs as they come, no faster than the client takes them. What cannot be delivered is given back at once; what
 * was delivered to a client that then leaves is kept for it for a short while, because it may only have lost the stream.
 */
export async function* dequeueJobs(
  request: DequeueJobsRequest,
  context: HandlerContext,
  { waybill, surface, streams }: DequeueParts,
): AsyncGenerator<DequeueJobsResponse> {
  const { c } = callOf(context);
  const { jobs } = portFor(context);
  const { queues, most, window, withEnvelope } = askedIn(request);
  const workerId = workerIdOf(request.workerId).workerId ?? `rpc-${newJobId(surface.clock.now())}`;
  const visibilityMs = visibilityMsOf(request, surface);
  const staying = stay(context);
  const { signal } = staying;
  const onFailed = (err: unknown) => surface.logger.warn({ err }, 'Jobs of a stream could not be held or given back.');
  const tenant = c.get('tenant') ?? '';
  const held = new Outstanding({ waybill, clock: surface.clock, tenant, queues, signal, onFailed });
  const close = streams.add(held);
  const alive = new HeldAlive({
    jobs,
    clock: surface.clock,
    workerId,
    visibilityMs,
    held,
    onFailed,
  });
  const call = { queues, workerId, leaseMs: alive.leaseMs, waitMs: LONGEST_WAIT_MS, signal };
  let claimed: Lease[] = [];
  try {
    if (window !== FOREVER) await held.watch();
    void alive.beat(signal);
    for (let sent = 0; sent < most; ) {
      await held.fewerThan(window);
      if (signal.aborted) break;
      const count = Math.min(most - sent, window - held.size, MOST_AT_ONCE);
      claimed = await jobs.claim({ ...call, count });
      if (!(await mayTake(c, claimed))) break;
      for (let lease = claimed[0]; lease && !signal.aborted; lease = claimed[0]) {
        // Before it is sent: its end may be reported before the client asks for the next one.
        held.add(lease);
        yield responseOf(lease, withEnvelope);
        claimed.shift();
        alive.delivered(lease);
        sent += 1;
      }
    }
    staying.check();
  } finally {
    const promised = hasLeft(context) ? undefined : alive.promise();
    close();
    const done = Promise.all([giveBack(jobs, claimed), promised]).catch(onFailed);
    c.env?.waitUntil?.(done);
    staying.leave();
    await done;
  }
}

/** What is promised to a client: what it asks for, else the default of the server. */
export const visibilityMsOf = (
  { visibilityTimeoutSeconds }: Pick<DequeueJobsRequest, 'visibilityTimeoutSeconds'>,
  { visibilityMs }: Pick<Surface, 'visibilityMs'>,
): number => secondsOf(visibilityTimeoutSeconds, 'visibility_timeout_seconds').leaseMs ?? visibilityMs;

/** A client whose deadline has passed is there and knows what it has; so does one whose server ends. */
const hasLeft = ({ signal }: HandlerContext): boolean =>
  signal.aborted && !(signal.reason instanceof ConnectError && signal.reason.code === Code.DeadlineExceeded);

async function giveBack(jobs: Jobs, leases: readonly Lease[]): Promise<void> {
  const outcome = { kind: 'requeued', error: UNDELIVERED } as const;
  await Promise.all(leases.map(({ job, token }) => jobs.settle({ id: job.id, leaseToken: token, outcome })));
}

function responseOf(lease: Lease, withEnvelope: boolean): DequeueJobsResponse {
  const { job, ...rest } = leaseToRpc(lease, withEnvelope);
  return create(DequeueJobsResponseSchema, { ...(job && { job }), taskToken: rest.taskToken, lease: rest });
}

function askedIn({ queue, queues, maxJobs, maxOutstanding, withEnvelope }: DequeueJobsRequest) {
  if (queue !== '' && queues.length > 0) throw invalidField('queue', `contradicts 'queues': send one of them.`);
  const named = queue === '' ? checkQueues(queues, 'queues') : checkQueues([queue], 'queue');
  for (const [field, count] of Object.entries({ max_jobs: maxJobs, max_outstanding: maxOutstanding }))
    if (count < 0 || count > MAX_COUNT) throw invalidField(field, `must lie between 0 and ${MAX_COUNT}.`);
  const window = maxOutstanding || (maxJobs === 0 ? 1 : FOREVER);
  return { queues: named, most: maxJobs || FOREVER, window, withEnvelope };
}
