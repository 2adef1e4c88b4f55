import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { socketServer } from '../testing/socket-server.ts';

const BUF = path.join(import.meta.dirname, '../../../../node_modules/.bin/buf');

test('buf curl, which learns the methods by reflection, drives a job from its enqueue to its end', async () => {
  const { grpcUrl } = await socketServer({ grpcPort: 0 });
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape.
  const call = async (method: string, body: object): Promise<any[]> => {
    const address = `${grpcUrl!.replace('grpc', 'http')}/waybill.v1.${method}`;
    const flags = ['curl', '--http2-prior-knowledge', '--protocol', 'grpc', '-d', JSON.stringify(body), address];
    const { stdout } = await promisify(execFile)(BUF, flags);
    return stdout
      .split(/\n(?=\{)/)
      .filter((text) => text.trim() !== '')
      .map((text) => JSON.parse(text));
  };
  const [{ job }] = await call('JobService/EnqueueJob', { requestId: 'a', type: 'x', args: [1, 'two'], queue: 'q' });
  const [{ taskToken, job: given }] = await call('JobService/DequeueJobs', { queue: 'q', maxJobs: 1 });
  expect(given).toMatchObject({ jobId: job.jobId, args: [1, 'two'], state: 'JOB_STATE_RUNNING' });
  const events = [{ sequence: 1, output: { output: 'aGk=', stream: 'OUTPUT_STREAM_STDOUT' } }];
  const [published] = await call('JobEventsService/PublishEvents', { taskToken, events });
  expect(published).toMatchObject({ appended: { run: 1, stored: 1, head: '1' } });
  await call('JobService/UpdateJobVisibility', { taskToken, queue: 'q', visibilityTimeoutSeconds: 60 });
  await call('JobService/CompleteJob', { taskToken, result: { jobId: job.jobId, success: true } });
  const said = await call('JobEventsService/StreamEvents', { jobId: job.jobId });
  expect(said.find(({ event }) => event)).toMatchObject({ event: { type: 'output', output: { output: 'aGk=' } } });
});
