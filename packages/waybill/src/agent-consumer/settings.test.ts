import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ruleOf } from '../config/kinds.ts';
import { agentConsumer } from './preset.ts';
import { type AgentConsumerSettings, readSettings } from './settings.ts';
import { adoptTaskMessages, QUEUE } from './task-message.ts';
import { OF_A_PROCESS, VARIABLES } from './variables.ts';

const URL_OF_QUEUE = 'https://sqs.eu-west-1.amazonaws.com/123456789012/tasks';
const adopted = (settings: AgentConsumerSettings) => {
  const read = adoptTaskMessages({ name: 'agent.task' }, settings);
  const answer = read({ taskId: 't', name: 'n' }, { requestId: 'r' }, 'm');
  return (answer as { request: { options: object } }).request.options;
};
/** An empty variable leaves the queue as it is here. */
const sqsOf = ({ SQS_QUEUE_URL, ...env }: Record<string, string>) =>
  agentConsumer({ SQS_QUEUE_URL: SQS_QUEUE_URL || URL_OF_QUEUE, ...env }).sqsFor([{ name: 'agent.task' } as never])!;

/** For each variable: a value that is not its default, and what the preset makes of it. */
const ROWS: Record<
  string,
  { value: string; with?: Record<string, string>; see(env: Record<string, string>): unknown }
> = {
  SQS_QUEUE_URL: {
    value: `${URL_OF_QUEUE}-2`,
    see: (env) => [agentConsumer(env).env['WAYBILL_TRANSPORT'], sqsOf(env).queues, sqsOf(env).createQueues],
  },
  AWS_REGION: {
    value: 'us-east-2',
    see: (env) => agentConsumer({ ...env, SQS_QUEUE_URL: URL_OF_QUEUE, S3_BUCKET: 'bucket' }).env,
  },
  AWS_ACCESS_KEY_ID: { value: 'AKIA1', with: { AWS_SECRET_ACCESS_KEY: 'x' }, see: (env) => readSettings(env).env },
  AWS_SECRET_ACCESS_KEY: { value: 'secret', with: { AWS_ACCESS_KEY_ID: 'x' }, see: (env) => readSettings(env).env },
  MAX_MESSAGES: { value: '5', see: (env) => sqsOf(env).messagesPerReceive },
  VISIBILITY_TIMEOUT: { value: '45', see: (env) => sqsOf(env).receiveVisibilitySeconds },
  WAIT_TIME_SECONDS: { value: '5', see: (env) => agentConsumer(env).worker.waitMs },
  VISIBILITY_EXTENSION_INTERVAL: { value: '10000', see: (env) => agentConsumer(env).worker.heartbeatMs },
  VISIBILITY_EXTENSION_AMOUNT: {
    value: '60',
    see: (env) => [sqsOf(env).visibilitySeconds, agentConsumer(env).worker.leaseMs],
  },
  MAX_MESSAGE_RETRIES: { value: '5', see: (env) => adopted(readSettings(env)) },
  CLAUDE_CODE_OAUTH_TOKEN: { value: 'token', see: (env) => readSettings(env).env['CLAUDE_CODE_OAUTH_TOKEN'] },
  CLAUDE_MODEL: { value: 'claude-sonnet-5', see: (env) => readSettings(env).env['CLAUDE_MODEL'] },
  CLAUDE_TIMEOUT: {
    value: '60000',
    see: (env) => [adopted(readSettings(env)), readSettings(env).env['CLAUDE_TIMEOUT']],
  },
  MAX_CONCURRENT_CLAUDE: { value: '7', see: (env) => agentConsumer(env).worker.isolated!.concurrency },
  DEFAULT_TIMEOUT: { value: '60000', see: (env) => readSettings(env).env['DEFAULT_TIMEOUT'] },
  CLAUDE_CODE_PATH: { value: process.execPath, see: (env) => readSettings(env).env['CLAUDE_CODE_PATH'] },
  CLAUDE_CONFIG_DIR: { value: '/srv/claude', see: (env) => readSettings(env).env['CLAUDE_CONFIG_DIR'] },
  CLAUDE_SKIP_PERMISSIONS: { value: 'true', see: (env) => readSettings(env).env['CLAUDE_SKIP_PERMISSIONS'] },
  TENANT_ID: { value: 'acme', see: (env) => [agentConsumer(env).env['WAYBILL_TENANT'], sqsOf(env).queuesTenant] },
  S3_BUCKET: { value: 'my-bucket', see: (env) => agentConsumer(env).env['WAYBILL_BLOBS'] },
  DELETE_FILES_AFTER_UPLOAD: { value: 'true', see: (env) => readSettings(env).env['DELETE_FILES_AFTER_UPLOAD'] },
  NODE_ENV: { value: 'prod', see: (env) => readSettings(env).env['NODE_ENV'] },
  APP_NAME: { value: 'app', see: (env) => [readSettings(env).env['APP_NAME'], agentConsumer(env).notices] },
  EVENTBRIDGE_BUS_NAME: {
    value: 'jobs',
    see: (env) => [readSettings(env).env['EVENTBRIDGE_BUS_NAME'], agentConsumer(env).notices],
  },
  DYNAMODB_EVENTS_TABLE_NAME: { value: 'events', see: (env) => agentConsumer(env).notices },
  TASK_DEFINITIONS_TABLE: {
    value: 'definitions',
    see: (env) => [readSettings(env).env['TASK_DEFINITIONS_TABLE'], agentConsumer(env).notices],
  },
  PROCESSING_TIMEOUT_MS: { value: '1', see: (env) => agentConsumer(env).notices },
};

const LATER = 'Jobs and events are in the store.';
const JOB = {
  ...{ queue: QUEUE, timeout_ms: 200_000 },
  retry: { max_attempts: 3, on_exhaustion: 'dead_letter', non_retryable_errors: ['timeout'] },
};

/** What it comes to with the value, and without it. */
const EXPECTED: Record<string, [set: unknown, unset: unknown]> = {
  SQS_QUEUE_URL: [
    ['sqs://eu-west-1', { [QUEUE]: { default: `${URL_OF_QUEUE}-2` } }, false],
    [undefined, { [QUEUE]: { default: URL_OF_QUEUE } }, false],
  ],
  AWS_REGION: [
    { WAYBILL_TRANSPORT: 'sqs://us-east-2', WAYBILL_BLOBS: 's3://bucket?region=us-east-2' },
    { WAYBILL_TRANSPORT: 'sqs://eu-west-1', WAYBILL_BLOBS: 's3://bucket?region=eu-west-1' },
  ],
  AWS_ACCESS_KEY_ID: [
    expect.objectContaining({ AWS_ACCESS_KEY_ID: 'AKIA1' }),
    expect.not.objectContaining({ AWS_ACCESS_KEY_ID: expect.anything() }),
  ],
  AWS_SECRET_ACCESS_KEY: [
    expect.objectContaining({ AWS_SECRET_ACCESS_KEY: 'secret' }),
    expect.not.objectContaining({ AWS_SECRET_ACCESS_KEY: expect.anything() }),
  ],
  MAX_MESSAGES: [5, 1],
  VISIBILITY_TIMEOUT: [45, 30],
  WAIT_TIME_SECONDS: [5_000, 20_000],
  VISIBILITY_EXTENSION_INTERVAL: [10_000, 20_000],
  VISIBILITY_EXTENSION_AMOUNT: [
    [60, 90_000],
    [30, 45_000],
  ],
  MAX_MESSAGE_RETRIES: [{ ...JOB, retry: { ...JOB.retry, max_attempts: 5 } }, JOB],
  CLAUDE_CODE_OAUTH_TOKEN: ['token', undefined],
  CLAUDE_MODEL: ['claude-sonnet-5', 'claude-opus-4-5'],
  CLAUDE_TIMEOUT: [
    [{ ...JOB, timeout_ms: 60_000 }, '60000'],
    [JOB, '200000'],
  ],
  MAX_CONCURRENT_CLAUDE: [7, 3],
  DEFAULT_TIMEOUT: ['60000', '120000'],
  CLAUDE_CODE_PATH: [process.execPath, undefined],
  CLAUDE_CONFIG_DIR: ['/srv/claude', undefined],
  CLAUDE_SKIP_PERMISSIONS: ['true', undefined],
  TENANT_ID: [
    ['acme', 'acme'],
    [undefined, ''],
  ],
  S3_BUCKET: ['s3://my-bucket?region=eu-west-1', undefined],
  DELETE_FILES_AFTER_UPLOAD: ['true', 'false'],
  NODE_ENV: ['prod', 'dev'],
  APP_NAME: [
    ['app', [`No effect yet: APP_NAME. ${LATER}`]],
    ['task-workflow', []],
  ],
  EVENTBRIDGE_BUS_NAME: [
    ['jobs', [`No effect yet: EVENTBRIDGE_BUS_NAME. ${LATER}`]],
    ['default', []],
  ],
  DYNAMODB_EVENTS_TABLE_NAME: [[`No effect yet: DYNAMODB_EVENTS_TABLE_NAME. ${LATER}`], []],
  TASK_DEFINITIONS_TABLE: [
    ['definitions', [`No effect yet: TASK_DEFINITIONS_TABLE. ${LATER}`]],
    [undefined, []],
  ],
  PROCESSING_TIMEOUT_MS: [['No effect: PROCESSING_TIMEOUT_MS.'], []],
};

test('every variable has its row here', () => {
  expect(Object.keys(ROWS)).toEqual(VARIABLES.map(({ name }) => name));
  expect(Object.keys(EXPECTED)).toEqual(Object.keys(ROWS));
  expect(OF_A_PROCESS.filter((name) => !Object.hasOwn(ROWS, name))).toEqual([]);
});

test.each(Object.entries(ROWS))('%s does what the table says, and has its default', (name, row) => {
  const [set, unset] = EXPECTED[name]!;
  expect(row.see({ [name]: row.value, ...row.with })).toEqual(set);
  expect(row.see({})).toEqual(unset);
  // As everywhere in the command, an empty variable is none.
  expect(row.see({ [name]: '' })).toEqual(unset);
});

test.each([
  ['SQS_QUEUE_URL', 'tasks', 'must be the URL of a queue'],
  ['SQS_QUEUE_URL', 'https://sqs.eu-west-1.amazonaws.com', 'must be the URL of a queue'],
  ['AWS_REGION', 'Europe', 'must be a region like eu-west-1'],
  ['AWS_ACCESS_KEY_ID', 'AKIA1', 'AWS_SECRET_ACCESS_KEY is missing'],
  ['AWS_SECRET_ACCESS_KEY', 'planted', 'AWS_ACCESS_KEY_ID is missing'],
  ['MAX_MESSAGES', '0', 'must be a whole number from 1 to 10'],
  ['MAX_MESSAGES', '11', 'must be a whole number from 1 to 10'],
  ['VISIBILITY_TIMEOUT', '43201', 'must be a whole number from 1 to 43200'],
  ['WAIT_TIME_SECONDS', '21', 'must be a whole number from 0 to 20'],
  ['VISIBILITY_EXTENSION_INTERVAL', '20s', 'must be a whole number from 100'],
  ['VISIBILITY_EXTENSION_INTERVAL', '45000', 'The interval must be shorter'],
  ['VISIBILITY_EXTENSION_AMOUNT', '1.5', 'must be a whole number from 1 to 43200'],
  ['MAX_MESSAGE_RETRIES', '0', 'must be a whole number from 1 to 100'],
  ['CLAUDE_MODEL', '   ', 'must be text'],
  ['CLAUDE_TIMEOUT', '999', 'must be a whole number from 1000'],
  ['MAX_CONCURRENT_CLAUDE', 'three', 'must be a whole number from 1 to 1000'],
  ['DEFAULT_TIMEOUT', '-1', 'must be a whole number from 1'],
  ['CLAUDE_CODE_PATH', '/no/such/claude', 'must be a file that exists'],
  ['CLAUDE_CONFIG_DIR', ' ', 'must be text'],
  ['CLAUDE_CODE_OAUTH_TOKEN', ' ', 'must be text'],
  ['CLAUDE_SKIP_PERMISSIONS', 'yes', 'must be true, false, 1 or 0'],
  ['TENANT_ID', 'two words', 'without a space'],
  ['TENANT_ID', '*', 'must name one tenant'],
  ['S3_BUCKET', 'My_Bucket', 'must be the name of a bucket'],
  ['DELETE_FILES_AFTER_UPLOAD', 'maybe', 'must be true or false'],
  ['NODE_ENV', 'a b', 'must be letters, digits'],
  ['APP_NAME', 'a/b', 'must be letters, digits'],
  ['EVENTBRIDGE_BUS_NAME', 'a b', 'must be 1 to 256 letters'],
  ['DYNAMODB_EVENTS_TABLE_NAME', 'a', 'must be 3 to 255 letters'],
  ['TASK_DEFINITIONS_TABLE', 'a b c', 'must be 3 to 255 letters'],
  ['PROCESSING_TIMEOUT_MS', 'x', 'must be a whole number'],
])('%s=%s is refused, and the refusal names the variable', (name, value, rule) => {
  const refused = (() => {
    try {
      return String(readSettings({ [name]: value }));
    } catch (error) {
      return (error as Error).message;
    }
  })();
  expect(refused).toContain(rule);
  expect(refused).toContain(name);
  expect(refused).not.toContain('planted');
});

test('a refusal tells of all variables that are wrong, and shows no secret', () => {
  const env = { MAX_MESSAGES: 'a', WAIT_TIME_SECONDS: 'b', SQS_QUEUE_URL: 'https://user:planted@sqs/1/q' };
  expect(() => readSettings(env)).toThrow(/SQS_QUEUE_URL .*\n.*MAX_MESSAGES .*\n.*WAIT_TIME_SECONDS /);
  expect(() => readSettings(env)).not.toThrow('planted');
});

test('docs/agent-consumer.md has the table of variables as it is', () => {
  const file = new URL('../../../../docs/agent-consumer.md', import.meta.url);
  const page = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const effects = { setting: 'set', process: 'passed on', later: 'no effect yet', none: 'no effect' };
  const rows = VARIABLES.map(({ name, default: fallback = '', kind, effect, about, secret }) => {
    const value = ruleOf(kind).replace('must be ', '');
    return `| \`${name}\` | ${fallback} | ${effects[effect]} | ${about}${secret ? ' (secret)' : ''} | ${value} |`;
  });
  expect(page.split('\n').filter((line) => /^\| `[A-Z_0-9]+` \|/.test(line))).toEqual(rows);
});
