import { gzipSync } from 'node:zlib';
import { type DescMethod, fromBinary, fromJsonString } from '@bufbuild/protobuf';
import { DequeueJobsResponseSchema, JobEventsService, JobService, LogService } from '@waybill/protocol';
import { expect } from 'vitest';
import { type Harness, harness } from './harness.ts';
import { random, scrambled } from './rpc-fuzz.ts';
import type { Sample } from './rpc-samples.ts';
import { contentTypeOf, envelope, hasEnvelopes, sendWire, type WireCall, type WireEnd } from './rpc-wire.ts';

type Below = (n: number) => number;

const { dequeueJobs, completeJob, updateJobVisibility } = JobService.method;
const { publishEvents, streamEvents, appendEvents } = JobEventsService.method;
const { follow } = LogService.method;
const PROTOCOLS = ['connect', 'grpc-web', 'grpc'] as const;
/** How many calls are under way at once: those that wait end with their deadline. */
const AT_ONCE = 50;
const NEVER = new Set(['INTERNAL', 'UNKNOWN', 'DATA_LOSS']);

async function inBatches<T>(count: number, send: () => Promise<T>): Promise<T[]> {
  const all: T[] = [];
  while (all.length < count) {
    const batch = Array.from({ length: Math.min(AT_ONCE, count - all.length) }, send);
    all.push(...(await Promise.all(batch)));
  }
  return all;
}

function checked(call: WireCall, end: WireEnd): WireEnd {
  if (NEVER.has(end.status)) {
    const sent = Buffer.from(call.body as Uint8Array).toString('base64');
    const facts = { type: contentTypeOf(call), headers: call.headers, sent, message: end.message };
    expect.unreachable(`${call.method.name} ended with ${end.status}: ${JSON.stringify(facts)}`);
  }
  return end;
}

/** One job of the queue `default` for each, and a token of a run that goes on. */
async function world({ app, waybill }: Harness, jobs: number) {
  await waybill.jobs.enqueueMany(Array.from({ length: jobs }, () => ({ type: 'x', args: [] })));
  const { job } = await waybill.jobs.enqueue({ type: 'x', args: [], options: { queue: 'held' } });
  const body = envelope('{"queue":"held","maxJobs":1}');
  const { messages } = await sendWire(app, { protocol: 'grpc', method: dequeueJobs, isJson: true, body });
  return { jobId: job.id, taskToken: JSON.parse(String(messages[0])).taskToken as string };
}

const samplesOf = (jobId: string, taskToken: string): [DescMethod, Sample][] => [
  [dequeueJobs, [dequeueJobs.input, { queue: 'default', maxJobs: 1, visibilityTimeoutSeconds: 60 }]],
  [dequeueJobs, [dequeueJobs.input, { queues: ['default', 'none'], maxOutstanding: 2, withEnvelope: true }]],
  [publishEvents, [publishEvents.input, { taskToken, events: [{ sequence: 3n, type: 'own', time: { seconds: 1n } }] }]],
  [publishEvents, [publishEvents.input, { taskToken: 'wb1_W10', events: [{ sequence: 1n }] }]],
  [streamEvents, [streamEvents.input, { jobId, types: ['own'], fromSequence: 1n, lifecycle: true, cursor: 'x' }]],
  [follow, [follow.input, { after: 'x', filter: { queues: ['default'] } }]],
];

/** One or two messages in envelopes whose flags, lengths and ends are left to chance. */
function enveloped(below: Below, message: () => Uint8Array): Uint8Array {
  if (below(12) === 0) return Uint8Array.from({ length: below(40) }, () => below(256));
  const parts = Array.from({ length: below(10) === 0 ? 2 : 1 }, () => {
    const flags = below(5) === 0 ? below(256) : 0;
    const bytes = message();
    const part = Buffer.from(envelope(flags & 1 && below(2) === 0 ? gzipSync(bytes) : bytes, flags));
    if (below(12) === 0) part.writeUInt32BE(below(2) === 0 ? below(2 ** 31) : below(80), 1);
    return part;
  });
  const whole = Buffer.concat(parts);
  return below(12) === 0 ? whole.subarray(0, below(whole.length + 1)) : whole;
}

function headersOf(below: Below, protocol: WireCall['protocol']): Record<string, string> {
  const [deadline, encoding] =
    protocol === 'connect' ? ['connect-timeout-ms', 'connect-content-encoding'] : ['grpc-timeout', 'grpc-encoding'];
  return {
    [deadline]: protocol === 'connect' ? '5' : '5m',
    ...(below(4) === 0 && { [encoding]: below(8) === 0 ? 'br' : 'gzip' }),
  };
}

/** Streams that chance has made: each ends in a clean error or by its deadline, and no job stays with no client. */
export async function fuzzStreams(count: number): Promise<void> {
  const below = random(29);
  const own = harness({ maintenance: false });
  const { app, waybill, log } = own;
  const { jobId, taskToken } = await world(own, 50);
  const samples = samplesOf(jobId, taskToken);
  const delivered = new Map<string, string>();
  const seen = new Set<string>();
  await inBatches(count, async () => {
    const [method, sample] = samples[below(samples.length)]!;
    const [protocol, isJson] = [PROTOCOLS[below(3)]!, below(2) === 0];
    const body = enveloped(below, () => scrambled(below, isJson, sample));
    const call = { protocol, method, isJson, body, headers: headersOf(below, protocol) };
    const end = checked(call, await sendWire(app, call));
    seen.add(end.status);
    if (method !== dequeueJobs) return;
    for (const message of end.messages) {
      const { job, taskToken: token } = isJson
        ? fromJsonString(DequeueJobsResponseSchema, String(message))
        : fromBinary(DequeueJobsResponseSchema, message);
      if (job) delivered.set(job.jobId, token);
    }
  });
  expect([...seen].sort()).toEqual(expect.arrayContaining(['DEADLINE_EXCEEDED', 'INVALID_ARGUMENT', 'OK']));
  const active = await waybill.jobs.list({ filter: { states: ['active'], queues: ['default'] }, limit: 100 });
  expect(active.items.filter(({ id }) => !delivered.has(id))).toEqual([]);
  for (const { id } of active.items) {
    const body = envelope(JSON.stringify({ taskToken: delivered.get(id), result: { success: true } }));
    expect(await sendWire(app, { protocol: 'grpc', method: completeJob, isJson: true, body })).toMatchObject({
      ...{ status: 'OK' },
    });
  }
  expect((await waybill.jobs.get(jobId)).state).toBe('active');
  expect(log.filter(({ level }) => level === 'error')).toEqual([]);
}

/** Tokens that chance has made of a good one: all are refused, and the run that the good one is for goes on. */
export async function fuzzTokens(count: number): Promise<void> {
  const below = random(41);
  const own = harness({ maintenance: false, leaseTokens: { secret: 'a secret of more than thirty-two bytes' } });
  const { app, waybill, log } = own;
  const { jobId, taskToken } = await world(own, 1);
  const before = await waybill.jobs.get(jobId);
  const inside = Buffer.from(taskToken.slice(4), 'base64url');
  const altered = (): string => {
    const bytes = Buffer.from(inside);
    for (let flips = 1 + below(3); flips > 0; flips -= 1) bytes[below(bytes.length)] = below(256);
    const whole = `wb1_${bytes.toString('base64url')}`;
    if (below(3) > 0) return whole;
    const at = below(taskToken.length);
    return taskToken.slice(0, at) + String.fromCharCode(32 + below(90)) + taskToken.slice(at + below(4));
  };
  const methods = [completeJob, updateJobVisibility, appendEvents, publishEvents];
  const isSame = (token: string) => token === taskToken || Buffer.from(token.slice(4), 'base64url').equals(inside);
  await inBatches(count, async () => {
    const [method, protocol, token] = [methods[below(4)]!, PROTOCOLS[below(3)]!, altered()];
    if (isSame(token)) return;
    const events = [{ sequence: 1, type: 'own' }];
    const rest =
      method === completeJob ? { result: { success: true } } : method === updateJobVisibility ? {} : { events };
    const json = JSON.stringify({ taskToken: token, ...rest });
    const body = hasEnvelopes({ protocol, method }) ? envelope(json) : Buffer.from(json);
    const call = { protocol, method, isJson: true, body };
    const { status } = checked(call, await sendWire(app, call));
    // A worker's name alone may be changed: it says who calls, and gives no right.
    if (status !== 'INVALID_ARGUMENT' && status !== 'NOT_FOUND') expect(onlyWorkerDiffers(token, taskToken)).toBe(true);
  });
  const { leaseUntil: _, nextAt: __, ...after } = await waybill.jobs.get(jobId);
  expect(before).toMatchObject({ id: after.id, run: after.run });
  expect(log.filter(({ level }) => level === 'error')).toEqual([]);
}

function onlyWorkerDiffers(one: string, other: string): boolean {
  const [a, b] = [one, other].map((token) => JSON.parse(Buffer.from(token.slice(4), 'base64url').toString()));
  return a[0] === b[0] && a[1] === b[1] && a[3] === b[3];
}
