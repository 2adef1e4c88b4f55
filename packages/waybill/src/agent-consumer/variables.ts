import { existsSync } from 'node:fs';
import { checkTenant } from '@waybill/core';
import { choice, type Kind, name, onOrOff, text, whole } from '../config/kinds.ts';

/** What a variable does here. 'later': it is kept for what does not exist yet. 'none': it has no effect, and never will. */
export type Effect = 'setting' | 'process' | 'later' | 'none';

/** One variable of the preset: how it is read, and what becomes of it. docs/agent-consumer.md is held to this table by a test. */
export interface PresetVariable {
  name: string;
  /** As the program has it that this preset takes the place of. */
  default?: string;
  kind: Kind;
  effect: Effect;
  /** For the documentation: what it becomes. */
  about: string;
  /** Never shown. */
  secret?: true;
  /** What no pattern can say: the end of the sentence "NAME must .."; undefined where the value is good. */
  check?(value: string): string | undefined;
}

const region: Kind = { is: 'text', pattern: /^[a-z0-9-]{2,40}$/, rule: 'must be a region like eu-west-1' };
const queueUrl: Kind = {
  is: 'address',
  pattern: /^https?:\/\/[^/?#@\\\s]+\/[^?#@\s]+$/i,
  rule: 'must be the URL of a queue, like https://sqs.eu-west-1.amazonaws.com/123456789012/tasks',
};
const bucket: Kind = {
  is: 'text',
  pattern: /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
  rule: 'must be the name of a bucket',
};
const table: Kind = {
  is: 'text',
  pattern: /^[a-zA-Z0-9_.-]{3,255}$/,
  rule: 'must be 3 to 255 letters, digits and . _ -',
};
const bus: Kind = { is: 'text', pattern: /^[/.\w-]{1,256}$/, rule: 'must be 1 to 256 letters, digits and . _ / -' };
/** As the agent reads it. */
const agentSwitch = choice('true', 'false', '1', '0');

/** Longest that a message is hidden by SQS. */
const MOST_S = 43_200;
const DAY_MS = 86_400_000;

const SQS: readonly PresetVariable[] = [
  {
    ...{ name: 'SQS_QUEUE_URL', kind: queueUrl, effect: 'setting' },
    about: 'the queue whose messages become jobs of the queue `agent-tasks`; it is never created',
  },
  {
    ...{ name: 'AWS_REGION', default: 'eu-west-1', kind: region, effect: 'setting' },
    about: 'region of the queue and of the bucket; also given to the process of a run',
  },
  {
    ...{ name: 'AWS_ACCESS_KEY_ID', kind: text, effect: 'setting', secret: true },
    about: 'read by the AWS SDK; also given to the process of a run, not to the tools of the agent',
  },
  {
    ...{ name: 'AWS_SECRET_ACCESS_KEY', kind: text, effect: 'setting', secret: true },
    about: 'as AWS_ACCESS_KEY_ID; one without the other is refused',
  },
  {
    ...{ name: 'MAX_MESSAGES', default: '1', kind: whole(1, 10), effect: 'setting' },
    about: 'the most messages that one receive asks for',
  },
  {
    ...{ name: 'VISIBILITY_TIMEOUT', default: '30', kind: whole(1, MOST_S), effect: 'setting' },
    about: 'seconds that a receive hides a message, at most as long as the lease',
  },
  {
    ...{ name: 'WAIT_TIME_SECONDS', default: '20', kind: whole(0, 20), effect: 'setting' },
    about: 'seconds that a receive waits for a first message',
  },
  {
    ...{ name: 'VISIBILITY_EXTENSION_INTERVAL', default: '20000', kind: whole(100, DAY_MS), effect: 'setting' },
    about: 'milliseconds between two heartbeats: each extends the lease and hides the message again',
  },
  {
    ...{ name: 'VISIBILITY_EXTENSION_AMOUNT', default: '30', kind: whole(1, MOST_S), effect: 'setting' },
    about: 'seconds that an extension hides the message; the lease, and so `effective_until`, is 1.5 times that',
  },
  {
    ...{ name: 'MAX_MESSAGE_RETRIES', default: '3', kind: whole(1, 100), effect: 'setting' },
    about: 'attempts of a job; after the last one it is a dead letter',
  },
];

const CLAUDE: readonly PresetVariable[] = [
  {
    ...{ name: 'CLAUDE_CODE_OAUTH_TOKEN', kind: text, effect: 'process', secret: true },
    about: 'the account of the agent, where no ANTHROPIC_API_KEY is set',
  },
  {
    ...{ name: 'CLAUDE_MODEL', default: 'claude-opus-4-5', kind: text, effect: 'process' },
    about: 'the model of agents that name none',
  },
  {
    ...{ name: 'CLAUDE_TIMEOUT', default: '200000', kind: whole(1_000, DAY_MS), effect: 'setting' },
    about: 'milliseconds that one run may take; a run that the worker ends then is not tried again',
  },
  {
    ...{ name: 'MAX_CONCURRENT_CLAUDE', default: '3', kind: whole(1, 1_000), effect: 'setting' },
    about: 'runs at a time, each in processes of its own; `--processes` beats it',
  },
  {
    ...{ name: 'DEFAULT_TIMEOUT', default: '120000', kind: whole(1, DAY_MS), effect: 'process' },
    about: 'milliseconds of one attempt of the agent inside a run, at least 1 s and at most 15 min; tried again',
  },
  {
    ...{ name: 'CLAUDE_CODE_PATH', kind: text, effect: 'process' },
    ...{
      about: 'the Claude Code that runs',
      check: (path) => (existsSync(path) ? undefined : 'be a file that exists'),
    },
  },
  {
    ...{ name: 'CLAUDE_CONFIG_DIR', kind: text, effect: 'process' },
    about: 'the configuration of Claude Code; without it each run has an empty one of its own',
  },
  {
    ...{ name: 'CLAUDE_SKIP_PERMISSIONS', kind: agentSwitch, effect: 'process' },
    about: 'true: agents use their tools without being asked',
  },
];

const APP: readonly PresetVariable[] = [
  {
    ...{ name: 'TENANT_ID', kind: text, effect: 'setting', check: tenantProblem },
    about: 'the tenant of all jobs; `--tenant` and WAYBILL_TENANT beat it',
  },
  {
    ...{ name: 'S3_BUCKET', kind: bucket, effect: 'setting' },
    about: 'where sessions, results and logs of agents are kept; `--blobs` and WAYBILL_BLOBS beat it',
  },
  {
    ...{ name: 'DELETE_FILES_AFTER_UPLOAD', default: 'false', kind: onOrOff, effect: 'process' },
    about: 'true: the folder `.output/ID` of a run goes when its files are kept',
  },
  { name: 'NODE_ENV', default: 'dev', kind: name, effect: 'process', about: 'given to the process of a run' },
  {
    ...{ name: 'APP_NAME', default: 'task-workflow', kind: name, effect: 'later' },
    about: 'kept for the events on a bus; given to the process of a run',
  },
  {
    ...{ name: 'EVENTBRIDGE_BUS_NAME', default: 'default', kind: bus, effect: 'later' },
    about: 'kept for the events on a bus; given to the process of a run',
  },
  {
    ...{ name: 'DYNAMODB_EVENTS_TABLE_NAME', default: 'dev-unifiedEvents', kind: table, effect: 'later' },
    about: 'kept for the table of events: jobs and events are in the store that `--store` names',
  },
  {
    ...{ name: 'TASK_DEFINITIONS_TABLE', kind: table, effect: 'later' },
    about: 'kept for definitions of tasks in a table; given to the process of a run',
  },
  {
    ...{ name: 'PROCESSING_TIMEOUT_MS', default: '20000', kind: whole(0, DAY_MS), effect: 'none' },
    about: 'nothing: no program has ever read it',
  },
];

/** The whole environment of the preset, in the order of the documentation. */
export const VARIABLES: readonly PresetVariable[] = [...SQS, ...CLAUDE, ...APP];

/** What the process of a run gets of them, with their defaults. */
export const OF_A_PROCESS: readonly string[] = [
  ...VARIABLES.filter(({ effect }) => effect === 'process').map((variable) => variable.name),
  ...['CLAUDE_TIMEOUT', 'MAX_CONCURRENT_CLAUDE', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_REGION'],
  ...['S3_BUCKET', 'EVENTBRIDGE_BUS_NAME', 'TENANT_ID', 'APP_NAME', 'TASK_DEFINITIONS_TABLE'],
];

function tenantProblem(tenant: string): string | undefined {
  try {
    checkTenant(tenant);
    return undefined;
  } catch {
    return "be 1 to 128 printable characters without a space, must not begin with '~', and must name one tenant";
  }
}
