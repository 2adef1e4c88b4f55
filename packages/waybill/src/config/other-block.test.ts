import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { startCloud } from '@waybill/aws/cloud';
import { expect, onTestFinished, test } from 'vitest';
import { ServerProcess } from '../testing/server-process.ts';
import { configFolder, configOf, refusalOf } from './testing/config-folder.ts';

const DAY_MS = 86_400_000;
const page = readFileSync(new URL('../../../../docs/configuration.md', import.meta.url), 'utf8');
/** As it stands in the documentation. */
const BLOCK = /```yaml\n(store:\n {2}type: sqs\n[\s\S]*?)```/.exec(page)![1]!;
const QUEUES = 'https://sqs.us-west-2.amazonaws.com/123456789/airunner-prod-';

test('the block becomes a DynamoDB store and an SQS transport, with a notice', async () => {
  const { env, options, notices } = await configOf(BLOCK);
  expect(env).toEqual({
    WAYBILL_STORE: 'dynamodb://us-west-2/airunner_jobs',
    WAYBILL_TRANSPORT: 'sqs://us-west-2/',
  });
  expect(options).toEqual({
    engine: { leaseMs: 300_000, retention: { journalMs: 30 * DAY_MS } },
    sqs: {
      queues: { default: { default: `${QUEUES}default` }, priority: { default: `${QUEUES}priority` } },
      createQueues: false,
    },
  });
  expect(notices).toEqual([
    "waybill.config.yaml: 'store.dynamodb.events_table' has no effect. One table holds jobs and what their runs say.",
  ]);
});

test('queues that the block does not name are made only where the file says so', async () => {
  const { options } = await configOf(`${BLOCK}\nsqs: { createQueues: true }`);
  expect(options.sqs?.createQueues).toBe(true);
});

test('events_ttl_days: 0 keeps a journal for as long as its job', async () => {
  const { options } = await configOf(BLOCK.replace('events_ttl_days: 30', 'events_ttl_days: 0'));
  expect(options.engine?.retention?.journalMs).toBeGreaterThan(36_000_000 * 1_000);
});

test.each([
  ['store: { aws: { region: us-west-2 } }', "'store.type' is missing"],
  ['store: { type: sqs }', "'store.dynamodb.jobs_table' is missing"],
  ['store: { type: sqss }', "must be sqs, not 'sqss'. Did you mean 'sqs'?"],
  ['store: { type: sqs, dynamodb: { job_table: x } }', "Did you mean 'store.dynamodb.jobs_table'?"],
  [`${BLOCK}\nsqs: { region: us-west-2 }`, "'store.aws.region' and 'sqs.region' in waybill.config.yaml say the same."],
])('%s', async (yaml, told) => {
  expect(await refusalOf(yaml)).toContain(told);
});

/** Skipped only where Java is missing, and that nobody accepts in CI. */
const canRun = spawnSync('java', ['-version']).status === 0 || process.env['CI'] === 'true';

test.skipIf(!canRun)(
  'a server on that block uses its table and its queues (skipped: needs Java 17)',
  async () => {
    const cloud = await startCloud({ region: 'us-west-2' });
    onTestFinished(() => cloud.stop());
    for (const queue of ['default', 'priority']) cloud.sqs.createQueue(`airunner-prod-${queue}`);
    // The SDK sends to the host in the URL of a queue, so these name the emulator. All else stays as it is.
    const block = BLOCK.replaceAll(
      'https://sqs.us-west-2.amazonaws.com/123456789',
      `${cloud.endpoints.sqs}/000000000000`,
    );
    const file = path.join(configFolder({ 'waybill.config.yaml': block }), 'waybill.config.yaml');
    const env = { ...cloud.env, WAYBILL_STORE: '', WAYBILL_TRANSPORT: '', WAYBILL_BLOBS: '', WAYBILL_PORT: '0' };
    const server = await ServerProcess.start(['serve', '--config', file], env);
    onTestFinished(async () => void (await server.end('SIGKILL')));
    await server.printed(/events_table' has no effect/);
    expect(server.output).toContain('dynamodb://us-west-2/airunner_jobs');
    const health = await server.call('GET', '/health');
    expect(health.body).toMatchObject({ backend: { type: 'dynamodb' }, transport: { type: 'sqs', status: 'ok' } });
    const made = await server.call('POST', '/ojs/v1/jobs', { type: 'a.b', args: [], options: { queue: 'priority' } });
    expect(made.status).toBe(201);
    const unknown = await server.call('POST', '/ojs/v1/jobs', { type: 'a.b', args: [], options: { queue: 'other' } });
    expect([unknown.status, unknown.body.error]).toMatchObject([400, { code: 'invalid_request' }]);
    const waiting = () => cloud.sqs.inspectQueue('airunner-prod-priority')!.messages.ready.length;
    await expect.poll(waiting, { timeout: 60_000 }).toBe(1);
    expect(await server.end('SIGTERM')).toBe(0);
  },
  120_000,
);
