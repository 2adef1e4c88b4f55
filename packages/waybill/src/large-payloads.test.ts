import { spawnSync } from 'node:child_process';
import { type Cloud, startCloud } from '@waybill/aws/cloud';
import { task } from '@waybill/worker';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openBlobs } from './connect/open-blobs.ts';
import { connect } from './sdk/connect.ts';
import { ServerProcess } from './testing/server-process.ts';

/** Skipped only where Java is missing, and that nobody accepts in CI. */
const canRun = spawnSync('java', ['-version']).status === 0 || process.env['CI'] === 'true';

const MB = 1_000_000;
const ARGS = ['a'.repeat(2 * MB)];
const RESULT = { text: 'b'.repeat(5 * MB) };
const LARGE = { type: 'large.job', args: ARGS, options: { queue: 'large' } };

interface Told {
  id: string;
  args?: unknown;
  result?: unknown;
  args_url?: string;
  result_url?: string;
  lease_token: string;
}

describe.skipIf(!canRun)('payloads larger than any item of DynamoDB (skipped: needs Java 17)', () => {
  let cloud: Cloud;
  beforeAll(async () => {
    cloud = await startCloud();
    for (const [name, value] of Object.entries(cloud.env)) vi.stubEnv(name, value);
  }, 90_000);
  afterAll(async () => {
    vi.unstubAllEnvs();
    await cloud.stop();
  });
  const env = (name: string): string => cloud.env[name]!;

  test('a job with 2 MB of args and a result of 5 MB goes through, over SQS, DynamoDB and S3', async () => {
    const waybill = await connect(env('WAYBILL_STORE'), {
      transport: env('WAYBILL_TRANSPORT'),
      blobs: env('WAYBILL_BLOBS'),
    });
    onTestFinished(() => waybill.close());
    const seen: number[] = [];
    const copy = task('large.copy', {
      run: async (text: string) => {
        seen.push(text.length);
        return RESULT;
      },
    });
    waybill.work([copy]);
    const job = await waybill.enqueue(copy, ARGS[0]!);
    expect(await waybill.wait(job, { timeoutMs: 20_000 })).toEqual(RESULT);
    expect(seen).toEqual([2 * MB]);
    const { store } = await openBlobs(env('WAYBILL_BLOBS'));
    onTestFinished(() => store.close());
    const keys = (await store.list(`jobs/${job.id}/`, { limit: 10 })).map(
      ({ key }) => key.split('/')[2]!.split('-')[0],
    );
    expect(keys).toEqual(['args', 'result']);
  }, 60_000);

  test('without blobs it is refused, and says why', async () => {
    const waybill = await connect(env('WAYBILL_STORE'));
    onTestFinished(() => waybill.close());
    await expect(waybill.jobs.enqueue(LARGE)).rejects.toMatchObject({
      code: 'payload_too_large',
      message: expect.stringContaining('400 KB'),
      hint: expect.stringContaining('blobs'),
    });
  });

  test('a server takes it, gives it to a worker whole, and to readers by address; no log has the address', async () => {
    const server = await ServerProcess.start(['serve', '--port', '0'], { ...cloud.env, WAYBILL_LOG: 'trace' });
    onTestFinished(async () => void (await server.end('SIGKILL')));
    const { status, body } = await server.call<{ job: Told }>('POST', '/ojs/v1/jobs', LARGE);
    expect(status).toBe(201);
    const { id } = body.job;

    const fetched = await server.call<{ job: Told }>('POST', '/ojs/v1/workers/fetch', {
      ...{ queues: ['large'], wait_ms: 20_000 },
    });
    expect(fetched.body.job.args).toEqual(ARGS);
    const ack = { job_id: id, lease_token: fetched.body.job.lease_token, result: RESULT };
    expect((await server.call('POST', '/ojs/v1/workers/ack', ack)).status).toBe(200);

    const { job } = (await server.call<{ job: Told }>('GET', `/ojs/v1/jobs/${id}`)).body;
    expect(job).not.toHaveProperty('args');
    expect(job).not.toHaveProperty('result');
    expect(await (await fetch(job.args_url!)).json()).toEqual(ARGS);
    expect(await (await fetch(job.result_url!)).json()).toEqual(RESULT);
    const page = await server.call<{ jobs: Told[] }>('GET', '/ojs/v1/jobs?queue=large');
    expect(page.body.jobs.map(({ result_url }) => result_url !== undefined)).toEqual([true]);

    const client = await connect(server.url);
    onTestFinished(() => client.close());
    expect(await client.jobs.get(id)).toMatchObject({ spec: { args: ARGS }, result: RESULT });
    expect((await client.jobs.list({ limit: 10, filter: { queues: ['large'] } })).items).toMatchObject([
      { spec: { args: ARGS }, result: RESULT },
    ]);

    await server.end('SIGTERM');
    expect(server.output).toContain('waybill ready');
    expect(server.output).not.toMatch(/X-Amz|Signature/i);
  }, 60_000);

  test('a server without blobs keeps its old limit', async () => {
    const server = await ServerProcess.start(['serve', '--port', '0'], { ...cloud.env, WAYBILL_BLOBS: '' });
    onTestFinished(async () => void (await server.end('SIGKILL')));
    expect(await server.call('POST', '/ojs/v1/jobs', LARGE)).toMatchObject({
      status: 413,
      body: { error: { code: 'payload_too_large' } },
    });
  });
});
