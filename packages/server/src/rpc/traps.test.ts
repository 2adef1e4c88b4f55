import { Code, ConnectError } from '@connectrpc/connect';
import { toListValue } from '@waybill/client/rpc';
import { JobState, type StreamEventsResponse } from '@waybill/protocol';
import { expect, test } from 'vitest';
import { all, grpcClients, type RpcClients } from '../testing/rpc-clients.ts';
import { socketServer } from '../testing/socket-server.ts';

// What goes wrong in a public system of this kind, and must not here.

const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'answered',
    (error: unknown) => ConnectError.from(error).code,
  );

async function world() {
  const server = await socketServer({ grpcPort: 0 });
  return { ...server, ...grpcClients(server.grpcUrl!) };
}

async function taken({ jobs }: RpcClients, options = {}) {
  const { job } = await jobs.enqueueJob({ type: 'x', args: toListValue([]), options });
  const [given] = await all(jobs.dequeueJobs({ queue: 'default', maxJobs: 1 }));
  expect(given!.job!.jobId).toBe(job!.jobId);
  return { jobId: job!.jobId, taskToken: given!.taskToken };
}

const output = (sequence: number, text: string) => ({
  sequence: BigInt(sequence),
  payload: { case: 'output' as const, value: { output: Buffer.from(text) } },
});

const told = (items: readonly StreamEventsResponse[]) =>
  items.flatMap(({ item }) =>
    item.case === 'event' ? [`${item.value.run}.${item.value.sequence} ${item.value.type}`] : [],
  );

test('a process that ended with another exit code than 0 is a failed run, whatever its worker calls it', async () => {
  const clients = await world();
  const { jobs, events, waybill } = clients;
  for (const success of [false, true]) {
    const { jobId, taskToken } = await taken(clients, { retry: { max_attempts: 1 } });
    const ended = { sequence: 1n, payload: { case: 'processEnded' as const, value: { pid: 7, exitCode: 3 } } };
    await events.appendEvents({ taskToken, events: [ended] });
    const { job } = await jobs.completeJob({ taskToken, result: { jobId, success, exitCode: 3 } });
    expect(job).toMatchObject({ state: JobState.FAILED, exactState: 'discarded' });
    expect((await waybill.jobs.get(jobId)).errors).toMatchObject([
      { code: 'process_failed', message: expect.stringContaining('exit code 3'), details: { exit_code: 3 } },
    ]);
    const read = await events.readEvents({ jobId });
    expect(read.events[0]!.payload).toMatchObject({ case: 'processEnded', value: { pid: 7, exitCode: 3 } });
  }
});

test('a failed run is tried again as the job says, and its second run does not hide what the first has said', async () => {
  const clients = await world();
  const { jobs, events } = clients;
  const { jobId, taskToken } = await taken(clients, {
    retry: { max_attempts: 2, initial_interval_ms: 1, jitter: false },
  });
  await events.appendEvents({ taskToken, events: [output(1, 'first')] });
  const { job } = await jobs.completeJob({ taskToken, result: { success: false, errorMessage: 'broken' } });
  expect(job).toMatchObject({ state: JobState.SCHEDULED, exactState: 'retryable' });
  const [again] = await all(jobs.dequeueJobs({ queue: 'default', maxJobs: 1 }));
  await events.appendEvents({ taskToken: again!.taskToken, events: [output(1, 'second')] });
  await jobs.completeJob({ taskToken: again!.taskToken, result: { success: true } });
  expect(told(await all(events.streamEvents({ jobId })))).toEqual(['1.1 output', '2.1 output']);
  expect(told(await all(events.streamEvents({ jobId, run: 2 })))).toEqual(['2.1 output']);
  expect(await codeOf(events.appendEvents({ taskToken, events: [output(2, 'late')] }))).toBe(Code.Aborted);
});

test('pages are different pages, newest first, and the last one is known', async () => {
  const clients = await world();
  const { jobs, waybill } = clients;
  const stored = await waybill.jobs.enqueueMany(Array.from({ length: 7 }, () => ({ type: 'x', args: [] })));
  const newest = stored
    .map(({ id }) => id)
    .sort()
    .reverse();
  const pages = await Promise.all([1, 2, 3, 4].map((page) => jobs.listJobs({ queue: 'default', page, pageSize: 3 })));
  expect(pages.flatMap((page) => page.jobs.map(({ jobId }) => jobId))).toEqual(newest);
  expect(pages.map(({ lastPage, lastPageIsExact }) => [lastPage, lastPageIsExact])).toEqual(pages.map(() => [3, true]));
  const byToken: string[] = [];
  for (let pageToken = ''; ; ) {
    const page = await jobs.listJobs({ pageSize: 2, pageToken });
    byToken.push(...page.jobs.map(({ jobId }) => jobId));
    pageToken = page.nextPageToken;
    if (pageToken === '') break;
  }
  expect(byToken).toEqual(newest);
  await waybill.jobs.cancel(newest[0]!);
  const cancelled = await jobs.listJobs({ state: JobState.CANCELLED });
  expect(cancelled.jobs.map(({ jobId }) => jobId)).toEqual([newest[0]]);
  expect(await codeOf(jobs.listJobs({ page: 1, pageToken: 'x' }))).toBe(Code.InvalidArgument);
});

test('the number of the last page is exact as far as 1,000 jobs behind the page, and says where it is not', async () => {
  const { jobs, waybill } = await world();
  const many = (count: number) =>
    waybill.jobs.enqueueMany(Array.from({ length: count }, () => ({ type: 'x', args: [] })));
  await many(1_000);
  await many(50);
  const lastOf = async (page: number) => {
    const { lastPage, lastPageIsExact, jobs: found } = await jobs.listJobs({ page, pageSize: 10 });
    return [lastPage, lastPageIsExact, found.length];
  };
  expect(await lastOf(1)).toEqual([101, false, 10]);
  expect(await lastOf(5)).toEqual([105, true, 10]);
  expect(await lastOf(105)).toEqual([105, true, 10]);
  // Behind the end, where counting from the start stops too early to be exact.
  expect(await lastOf(106)).toEqual([100, false, 0]);
  for (const page of [-1, 1_002])
    expect(await codeOf(jobs.listJobs({ page, pageSize: 10 }))).toBe(Code.InvalidArgument);
  expect(await codeOf(jobs.listJobs({ page: 1, pageSize: 101 }))).toBe(Code.InvalidArgument);
});

test('filters hold for what was said and for what is said, and the stream ends with its job unless it stays', async () => {
  const clients = await world();
  const { jobs, events } = clients;
  const { jobId, taskToken } = await taken(clients);
  const own = (sequence: number) => ({ sequence: BigInt(sequence), type: 'own' });
  await events.appendEvents({ taskToken, events: [output(1, 'a'), own(2), output(3, 'b')] });
  const leaving = new AbortController();
  const follow = { jobId, types: ['output'], fromSequence: 2n };
  const stays = events.streamEvents({ ...follow, stay: true }, { signal: leaving.signal })[Symbol.asyncIterator]();
  const heard: StreamEventsResponse[] = [];
  for (let isLive = false; !isLive; ) {
    const { value } = await stays.next();
    isLive = value!.item.case === 'live';
    heard.push(value!);
  }
  expect(told(heard)).toEqual(['1.3 output']);
  await events.appendEvents({ taskToken, events: [own(4), output(5, 'c')] });
  expect(told([(await stays.next()).value!])).toEqual(['1.5 output']);
  await jobs.completeJob({ taskToken, result: { success: true } });
  expect(told(await all(events.streamEvents(follow)))).toEqual(['1.3 output', '1.5 output']);
  const staying = stays.next();
  leaving.abort();
  await expect(staying).rejects.toMatchObject({ code: Code.Canceled });
});

test('after the end nothing is published, and a token is for its own job and queue alone', async () => {
  const clients = await world();
  const { jobs, events } = clients;
  const { jobId, taskToken } = await taken(clients);
  const other = await taken(clients);
  const foreign = jobs.completeJob({ taskToken, result: { jobId: other.jobId, success: true } });
  expect(await codeOf(foreign)).toBe(Code.InvalidArgument);
  expect(await codeOf(jobs.updateJobVisibility({ taskToken, queue: 'other' }))).toBe(Code.InvalidArgument);
  await jobs.completeJob({ taskToken, result: { jobId, success: true } });
  expect(await codeOf(events.appendEvents({ taskToken, events: [output(1, 'late')] }))).toBe(Code.Aborted);
  const published = all(
    events.publishEvents(
      (async function* () {
        yield { taskToken, events: [output(1, 'late')] };
      })(),
    ),
  );
  expect(await codeOf(published)).toBe(Code.Aborted);
  expect(await codeOf(jobs.updateJobVisibility({ taskToken }))).toBe(Code.Aborted);
  expect((await events.readEvents({ jobId })).events).toEqual([]);
});

test('a batch is acknowledged once it is stored, also while the stream goes on', async () => {
  const clients = await world();
  const { events } = clients;
  const { jobId, taskToken } = await taken(clients);
  let more = () => {};
  const asked = new Promise<void>((resolve) => {
    more = resolve;
  });
  const heard = events
    .publishEvents(
      (async function* () {
        yield { taskToken, events: [output(0, 'a'), output(5, 'b')] };
        await asked;
        yield { taskToken, events: [output(5, 'b'), output(6, 'c')] };
      })(),
    )
    [Symbol.asyncIterator]();
  expect((await heard.next()).value!.appended).toMatchObject({ stored: 2, head: 5n });
  expect((await events.readEvents({ jobId })).events).toHaveLength(2);
  more();
  expect((await heard.next()).value!.appended).toMatchObject({ stored: 1, head: 6n });
  expect((await heard.next()).done).toBe(true);
});
