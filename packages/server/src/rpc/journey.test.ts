import { create } from '@bufbuild/protobuf';
import { toListValue } from '@waybill/client/rpc';
import { JobState, OutputStream, PublishEventsRequestSchema } from '@waybill/protocol';
import { expect, test } from 'vitest';
import { all, connectClients, grpcClients, grpcWebClients, type RpcClients } from '../testing/rpc-clients.ts';
import { socketServer } from '../testing/socket-server.ts';

/** Enqueue, dequeue, publish, extend, complete, stream: what every client must be able to do. */
async function journey({ jobs, events }: RpcClients, { hasBidi }: { hasBidi: boolean }) {
  const args = toListValue(['a', { b: [1, null, 2.5] }]);
  const enqueue = () => jobs.enqueueJob({ requestId: 'once', type: 'build.run', queue: 'builds', args });
  const first = await enqueue();
  expect(first).toMatchObject({ created: true, job: { state: JobState.SCHEDULED, exactState: 'available' } });
  const again = await enqueue();
  expect(again).toMatchObject({ created: false, job: { jobId: first.job!.jobId } });

  const given = await all(jobs.dequeueJobs({ queue: 'builds', maxJobs: 1 }));
  expect(given).toHaveLength(1);
  const [{ job, taskToken }] = given as [(typeof given)[0]];
  expect(job).toMatchObject({ jobId: first.job!.jobId, state: JobState.RUNNING, run: 1, args });

  const batch = create(PublishEventsRequestSchema, {
    taskToken,
    events: [
      { sequence: 1n, payload: { case: 'processStarted', value: { pid: 42 } } },
      {
        sequence: 2n,
        payload: { case: 'output', value: { output: new Uint8Array([0xff, 0, 10]), stream: OutputStream.STDERR } },
      },
      {
        sequence: 3n,
        type: 'user.own',
        payload: { case: 'data', value: { kind: { case: 'stringValue', value: 'hi' } } },
      },
      { sequence: 4n, payload: { case: 'processEnded', value: { pid: 42, exitCode: 0 } } },
    ],
  });
  if (hasBidi) {
    const heard = await all(
      events.publishEvents(
        (async function* () {
          yield batch;
          yield batch;
        })(),
      ),
    );
    expect(heard.map(({ appended }) => appended)).toMatchObject([
      { run: 1, stored: 4, head: 4n },
      { run: 1, stored: 0, head: 4n },
    ]);
  } else {
    expect((await events.appendEvents({ taskToken, events: batch.events })).appended).toMatchObject({
      run: 1,
      stored: 4,
      head: 4n,
      cut: 0,
    });
  }

  const { leaseExpiresAt } = await jobs.updateJobVisibility({
    queue: 'builds',
    taskToken,
    visibilityTimeoutSeconds: 900,
  });
  expect(leaseExpiresAt!.seconds).toBeGreaterThan(job!.leaseExpiresAt!.seconds);
  const result = { jobId: job!.jobId, success: true };
  const done = await jobs.completeJob({ taskToken, result });
  expect(done.job).toMatchObject({ state: JobState.COMPLETED, exactState: 'completed' });

  const said = await all(events.streamEvents({ jobId: job!.jobId, lifecycle: true }));
  const told = said.flatMap(({ item }) =>
    item.case === 'event' ? [item.value.type] : item.case === 'lifecycle' ? [item.value.type] : [],
  );
  const between = ['process.started', 'output', 'user.own', 'process.ended'];
  // Each extension of the lease is told, too, also the one at the end of the stream.
  expect(told.filter((type) => type !== 'job.heartbeat')).toEqual([
    'job.enqueued',
    'job.started',
    ...between,
    'job.completed',
  ]);
  const output = said.find(({ item }) => item.case === 'event' && item.value.payload.case === 'output')!;
  expect(output.item.value).toMatchObject({
    sequence: 2n,
    run: 1,
    payload: { value: { output: new Uint8Array([0xff, 0, 10]), stream: OutputStream.STDERR } },
  });
}

test('a client of gRPC drives a job from its enqueue to its end', async () => {
  const { grpcUrl } = await socketServer({ grpcPort: 0 });
  await journey(grpcClients(grpcUrl!), { hasBidi: true });
});

test('a client of gRPC-Web drives a job from its enqueue to its end over HTTP/1.1', async () => {
  const { url } = await socketServer();
  await journey(grpcWebClients(url), { hasBidi: false });
});

test.each([true, false])('a client of Connect drives a job to its end over HTTP/1.1, binary: %s', async (isBinary) => {
  const { url } = await socketServer();
  await journey(connectClients(url, isBinary), { hasBidi: false });
});

test('plain JSON by fetch drives a job to its end', async () => {
  const { url } = await socketServer();
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape.
  const call = async (method: string, body: object): Promise<any> => {
    const answer = await fetch(`${url}/waybill.v1.${method}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(200);
    return answer.json();
  };
  const { job } = await call('JobService/EnqueueJob', { type: 'x', args: [1], options: { priority: 5 } });
  expect(job).toMatchObject({ state: 'JOB_STATE_SCHEDULED', args: [1], priority: 5, queue: 'default' });
  const { leases } = await call('WorkerService/Claim', { queues: ['default'] });
  const [{ taskToken }] = leases;
  const events = [{ sequence: 0, output: { output: Buffer.from('hello').toString('base64') } }];
  await call('JobEventsService/AppendEvents', { task_token: taskToken, events });
  await call('JobService/UpdateJobVisibility', { taskToken, visibilityTimeoutSeconds: 60 });
  await call('JobService/CompleteJob', { taskToken, result: { success: true, value: { n: 7 } } });
  const { jobId } = job;
  expect(await call('JobService/GetJob', { jobId })).toMatchObject({
    job: { exactState: 'completed', result: { n: 7 } },
  });
  const read = await call('JobEventsService/ReadEvents', { jobId });
  expect(read).toMatchObject({ atEnd: true, events: [{ type: 'output', output: { output: 'aGVsbG8=' } }] });
});
