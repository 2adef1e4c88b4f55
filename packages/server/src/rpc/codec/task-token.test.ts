import { Code, ConnectError } from '@connectrpc/connect';
import type { Waybill } from '@waybill/core';
import { expect, test } from 'vitest';
import { all, grpcClients } from '../../testing/rpc-clients.ts';
import { socketServer } from '../../testing/socket-server.ts';

const SECRET = 'a secret of more than thirty-two bytes';
const event = { sequence: 1n, type: 'own' };

const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'answered',
    (error: unknown) => ConnectError.from(error).code,
  );

async function world(options: { leaseTokens?: { secret: string } } = {}) {
  const server = await socketServer({ grpcPort: 0 }, options);
  const clients = grpcClients(server.grpcUrl!);
  const { jobs, events } = clients;
  const taken = async (queue: string) => {
    await server.waybill.jobs.enqueue({ type: 'x', args: [], options: { queue } });
    const [given] = await all(jobs.dequeueJobs({ queue, maxJobs: 1 }));
    return { jobId: given!.job!.jobId, taskToken: given!.taskToken };
  };
  /** Every method that takes a task token. */
  const calls = (taskToken: string) => ({
    complete: () => jobs.completeJob({ taskToken, result: { success: true } }),
    extend: () => jobs.updateJobVisibility({ taskToken }),
    append: () => events.appendEvents({ taskToken, events: [event] }),
    publish: () =>
      all(
        events.publishEvents(
          (async function* () {
            yield { taskToken, events: [event] };
          })(),
        ),
      ),
  });
  return { ...server, ...clients, taken, calls };
}

type Parts = [jobId: string, queue: string, leaseToken: string];
const read = (token: string): Parts => JSON.parse(Buffer.from(token.slice(4), 'base64url').toString());
const made = (parts: unknown): string => `wb1_${Buffer.from(JSON.stringify(parts)).toString('base64url')}`;

const stateOf = async ({ jobs }: Waybill, ids: readonly string[]) =>
  Promise.all(ids.map(async (id) => [await jobs.get(id), (await jobs.journal(id)).entries]));

// fault: tokens with any of their parts replaced
test('guarantee 3: a task token that was altered, or is of another job or queue, is refused and changes nothing', async () => {
  const { waybill, taken, calls } = await world({ leaseTokens: { secret: SECRET } });
  const [one, two] = [await taken('first'), await taken('second')];
  const [mine, other] = [read(one.taskToken), read(two.taskToken)];
  const [jobId, queue, leaseToken] = mine;
  const before = await stateOf(waybill, [one.jobId, two.jobId]);
  const wrong = {
    'of another job': made([other[0], queue, leaseToken]),
    'of another job and its queue': made([other[0], other[1], leaseToken]),
    'of another queue': made([jobId, 'second', leaseToken]),
    'of no queue': made([jobId, '', leaseToken]),
    'with the lease of another job': made([jobId, queue, other[2]]),
    'with an altered lease': made([jobId, queue, `${leaseToken.slice(0, -2)}AA`]),
    'with a lease that was never signed': made([jobId, queue, '1.claim']),
    'with no lease': made([jobId, queue, '']),
    'with too many parts': made([...mine, 'w1']),
    'with too few parts': made([jobId, queue]),
    'of no job': made(['x', queue, leaseToken]),
    'cut short': one.taskToken.slice(0, -10),
    'that is text': 'wb1_!',
  };
  for (const [name, token] of Object.entries(wrong))
    for (const [call, send] of Object.entries(calls(token)))
      expect([name, call, await codeOf(send())]).toEqual([name, call, Code.InvalidArgument]);
  expect(await stateOf(waybill, [one.jobId, two.jobId])).toEqual(before);
  for (const send of Object.values(calls(one.taskToken)).reverse()) expect(await codeOf(send())).toBe('answered');
});

// fault: a request that names another job or queue beside its token
test('guarantee 3: a job or queue beside the token must be that of the token', async () => {
  const { waybill, jobs, events, taken } = await world({ leaseTokens: { secret: SECRET } });
  const [one, two] = [await taken('first'), await taken('second')];
  const { taskToken } = one;
  const before = await stateOf(waybill, [one.jobId, two.jobId]);
  const other = { jobId: two.jobId, success: true };
  expect(await codeOf(jobs.completeJob({ taskToken, result: other }))).toBe(Code.InvalidArgument);
  expect(await codeOf(jobs.updateJobVisibility({ taskToken, queue: 'second' }))).toBe(Code.InvalidArgument);
  const altered = made(read(taskToken).with(1, 'second'));
  const both = jobs.updateJobVisibility({ taskToken: altered, queue: 'second' });
  expect(await codeOf(both)).toBe(Code.InvalidArgument);
  const append = events.appendEvents({ taskToken, jobId: two.jobId, events: [event] });
  expect(await codeOf(append)).toBe(Code.InvalidArgument);
  expect(await stateOf(waybill, [one.jobId, two.jobId])).toEqual(before);
});

// fault: the job is cancelled, so its run is over
test.each([{}, { leaseTokens: { secret: SECRET } }])(
  'guarantee 3: a genuine token of a run that is over is a lost lease (%j)',
  async (options) => {
    const { waybill, taken, calls } = await world(options);
    const { jobId, taskToken } = await taken('first');
    await waybill.jobs.cancel(jobId);
    for (const [call, send] of Object.entries(calls(taskToken)))
      expect([call, await codeOf(send())]).toEqual([call, Code.Aborted]);
  },
);

// fault: tokens of a server that does not sign them
test('guarantee 3: without signatures, malformed tokens are refused, and a settle finds the wrong queue', async () => {
  const { waybill, taken, calls } = await world();
  const { jobId, taskToken } = await taken('first');
  const before = await stateOf(waybill, [jobId]);
  for (const lease of ['', 'x', '0.claim', '1.', 'wt1.x'])
    for (const [call, send] of Object.entries(calls(made(read(taskToken).with(2, lease)))))
      expect([lease, call, await codeOf(send())]).toEqual([lease, call, Code.InvalidArgument]);
  const elsewhere = calls(made(read(taskToken).with(1, 'second')));
  expect(await codeOf(elsewhere.complete())).toBe(Code.InvalidArgument);
  expect(await stateOf(waybill, [jobId])).toEqual(before);
});
