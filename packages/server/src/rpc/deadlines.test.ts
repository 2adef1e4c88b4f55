import { Code } from '@connectrpc/connect';
import { expect, test } from 'vitest';
import { grpcClients } from '../testing/rpc-clients.ts';
import { socketServer } from '../testing/socket-server.ts';

async function started() {
  const { grpcUrl, waybill } = await socketServer({ grpcPort: 0 });
  const { jobs, events } = grpcClients(grpcUrl!);
  const { job } = await waybill.jobs.enqueue({ type: 'x', args: [] });
  let taskToken = '';
  for await (const given of jobs.dequeueJobs({ queue: 'default', maxJobs: 1 })) ({ taskToken } = given);
  return { waybill, events, job, taskToken };
}

const entry = (sequence: bigint) => ({ sequence, type: 'own' });

// fault: the deadline of a client passes while it publishes
test('a publish that its deadline ends has stored what it acknowledged, and goes on in another call', async () => {
  const { waybill, events, job, taskToken } = await started();
  const idle = Promise.withResolvers<void>();
  const answers: bigint[] = [];
  const publish = async (timeoutMs: number | undefined, ...batches: bigint[]) => {
    const requests = (async function* () {
      for (const sequence of batches) yield { taskToken, events: [entry(sequence)] };
      if (timeoutMs !== undefined) await idle.promise;
    })();
    for await (const { appended } of events.publishEvents(requests, timeoutMs === undefined ? {} : { timeoutMs }))
      answers.push(appended!.head!);
  };
  await expect(publish(1_000, 1n, 2n)).rejects.toMatchObject({ code: Code.DeadlineExceeded });
  idle.resolve();
  const stored = async () => (await waybill.jobs.journal(job.id)).entries.map(({ sequence }) => sequence);
  expect(await stored()).toEqual(answers.map(Number));
  await publish(undefined, 1n, 2n, 3n);
  expect(await stored()).toEqual([1, 2, 3]);
});

// fault: the deadline of a follower passes
test('a follower that its deadline ends resumes behind its cursor, without a gap and without a duplicate', async () => {
  const { waybill, events, job, taskToken } = await started();
  const append = (sequence: bigint) => events.appendEvents({ taskToken, events: [entry(sequence)] });
  await append(1n);
  const seen: number[] = [];
  let cursor = '';
  const follow = async (timeoutMs?: number) => {
    const query = { jobId: job.id, cursor };
    for await (const told of events.streamEvents(query, timeoutMs === undefined ? {} : { timeoutMs })) {
      if (told.item.case !== 'event') continue;
      seen.push(Number(told.item.value.sequence));
      cursor = told.cursor;
    }
  };
  await expect(follow(1_000)).rejects.toMatchObject({ code: Code.DeadlineExceeded });
  await append(2n);
  await waybill.jobs.cancel(job.id);
  await follow();
  expect(seen).toEqual([1, 2]);
});
