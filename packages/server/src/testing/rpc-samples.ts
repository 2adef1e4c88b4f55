import type { DescMessage, DescMethod } from '@bufbuild/protobuf';
import { toListValue } from '@waybill/client/rpc';
import { JobEventsService, JobService, LogService, WorkerService } from '@waybill/protocol';
import type { Harness } from './harness.ts';
import { envelope, sendWire } from './rpc-wire.ts';

/** A message, as it is made. */
export type Sample = [DescMessage, Record<string, unknown>];

/** A valid body for each single call: it is about jobs that are there, and has tokens that count. */
export async function validBodies({ app, waybill }: Harness): Promise<[DescMethod, Sample][]> {
  const enqueue = async (queue: string) =>
    (await waybill.jobs.enqueue({ type: 'x', args: [], options: { queue } })).job.id;
  const taken = async (queue: string) => {
    const jobId = await enqueue(queue);
    const [lease] = await waybill.jobs.claim({ queues: [queue], workerId: 'w' });
    return { jobId, leaseToken: lease!.token };
  };
  const dequeued = async (queue: string): Promise<string> => {
    await enqueue(queue);
    const body = envelope(JSON.stringify({ queue, maxJobs: 1 }));
    const call = { protocol: 'grpc', method: JobService.method.dequeueJobs, isJson: true, body } as const;
    const { messages } = await sendWire(app, call);
    return JSON.parse(String(messages[0])).taskToken as string;
  };
  const [waiting, held, settled] = [await enqueue('waiting'), await taken('held'), await taken('settled')];
  const [token, completed] = [await dequeued('token'), await dequeued('completed')];
  const args = toListValue([1, { a: [null] }]);
  const { method: jobs } = JobService;
  const { method: workers } = WorkerService;
  const { method: events } = JobEventsService;
  const init: [DescMethod, Record<string, unknown>][] = [
    [jobs.enqueueJob, { type: 'x', args, options: { priority: 1 }, delay: { seconds: 5n }, requestId: 'r-1' }],
    [
      jobs.enqueueJobs,
      {
        jobs: [
          { type: 'x', args },
          { type: 'y', args, tags: ['a'] },
        ],
        withEnvelope: true,
      },
    ],
    [jobs.getJob, { jobId: waiting, withEnvelope: true }],
    [jobs.listJobs, { page: 2, state: 3, queues: ['a'], createdAfter: { seconds: 10n } }],
    [jobs.getProgress, { jobId: held.jobId }],
    [jobs.cancelJob, { jobId: waiting, reason: 'no', by: 'me' }],
    [jobs.retryJob, { jobId: waiting }],
    [jobs.activateJob, { jobId: waiting }],
    [jobs.updateJobVisibility, { taskToken: token, queue: 'token', visibilityTimeoutSeconds: 60 }],
    [jobs.completeJob, { taskToken: completed, result: { success: false, exitCode: 2, errorMessage: 'no' } }],
    [workers.heartbeat, { workerId: 'w', jobs: [held], lease: { seconds: 30n } }],
    [workers.settle, { ...settled, outcome: { kind: { case: 'completed', value: {} } } }],
    [workers.report, { ...held, number: 1n, fraction: 0.5, data: { step: 1 } }],
    [workers.ask, { ...held, key: 'k', text: 'Go on?', choices: ['yes', 'no'] }],
    [workers.spend, { ...held, amounts: { tokens: 5 } }],
    [events.appendEvents, { taskToken: token, events: [{ sequence: 3n, type: 'own', time: { seconds: 1n } }] }],
    [events.readEvents, { jobId: held.jobId, limit: 10, types: ['own'] }],
    [LogService.method.read, { limit: 5, filter: { queues: ['held'] } }],
    [LogService.method.end, {}],
  ];
  return init.map(([method, value]) => [method, [method.input, value]]);
}
