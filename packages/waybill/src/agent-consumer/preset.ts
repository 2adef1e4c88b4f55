import { pathToFileURL } from 'node:url';
import { type EngineOptions, loadOptional, WaybillError } from '@waybill/core';
import type { AnyTask } from '@waybill/worker';
import type { AwsParts } from '../connect/aws-parts.ts';
import { isRemote } from '../connect/parse-address.ts';
import { shownAddress } from '../connect/shown-address.ts';
import type { WorkOptions } from '../sdk/connect.ts';
import { type AgentConsumerSettings, readSettings } from './settings.ts';
import { adoptTaskMessages, checkedFirst, jobOptions, labelOf, QUEUE } from './task-message.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** What a preset stands for, in words that commands know already. Flags and WAYBILL_* variables beat it. */
export interface Preset {
  /** Fallbacks of WAYBILL_* variables. */
  env: Readonly<Record<string, string>>;
  worker: WorkOptions;
  engine: EngineOptionsOfPreset;
  /** How long a stop takes at most. */
  stopWithinMs: number;
  /** What the user should know. */
  notices: readonly string[];
  /** Refuses a place where its messages could not become jobs. */
  checkPlace(store: string, transport: string | undefined): void;
  /** Where there is no module. */
  defaultTasks(): Promise<AnyTask[]>;
  /** The tasks as the preset runs them. `module`: the file that exports them. */
  tasksOf(tasks: readonly AnyTask[], module: string | undefined): Promise<AnyTask[]>;
  sqsFor(tasks: readonly AnyTask[]): AwsParts['sqs'];
}

type EngineOptionsOfPreset = Pick<EngineOptions, 'retention'>;

/** As long as SQS keeps a message at most: it is known for so long that its job has been done. */
const LONGEST_MESSAGE_MS = 14 * 86_400_000;

/** A process manager sends SIGKILL after five seconds. */
const STOP_WITHIN_MS = 4_000;

const NEEDS = { name: '@waybill/agent', needs: 'The preset agent-consumer needs' };

/** The program of an agent consumer, by its own environment. */
export function agentConsumer(env: Env): Preset {
  const settings = readSettings(env);
  const { queueUrl, region, bucket, tenant } = settings;
  return {
    env: {
      ...(queueUrl !== undefined && { WAYBILL_TRANSPORT: `sqs://${region}` }),
      ...(bucket !== undefined && { WAYBILL_BLOBS: `s3://${bucket}?region=${region}` }),
      ...(tenant !== undefined && { WAYBILL_TENANT: tenant }),
    },
    worker: {
      ...{ leaseMs: settings.leaseMs, heartbeatMs: settings.heartbeatMs, waitMs: settings.waitMs },
      isolated: { concurrency: settings.processes, label: labelOf },
    },
    engine: { retention: { finishedMs: LONGEST_MESSAGE_MS } },
    stopWithinMs: STOP_WITHIN_MS,
    notices: noticesOf(settings),
    checkPlace: (store, transport) => {
      if (isRemote(store) && queueUrl !== undefined) throw needsStore(store);
      if (!isRemote(store) && transport === undefined) throw needsQueue();
    },
    defaultTasks: async () => {
      const { consumerTask } = await loadOptional(NEEDS, () => import('./consumer-task.ts'));
      return [consumerTask as unknown as AnyTask];
    },
    tasksOf: async (tasks, module) => {
      const [task, second] = tasks;
      if (second !== undefined) throw tooMany(tasks);
      return [await inPreset(task!, module, settings)];
    },
    sqsFor: ([task]) => {
      if (queueUrl === undefined) return {};
      return {
        ...{ queues: { [QUEUE]: { default: queueUrl } }, createQueues: false, queuesTenant: tenant ?? '' },
        adopt: { [QUEUE]: adoptTaskMessages(task!, settings) },
        ...{ visibilitySeconds: settings.visibilitySeconds, messagesPerReceive: settings.messages },
        receiveVisibilitySeconds: settings.receiveVisibilitySeconds,
      };
    },
  };
}

function noticesOf({ idle }: AgentConsumerSettings): string[] {
  const named = (effect: string) => idle.filter((one) => one.effect === effect).map(({ name }) => name);
  const [later, none] = [named('later'), named('none')];
  return [
    ...(later.length > 0 ? [`No effect yet: ${later.join(', ')}. Jobs and events are in the store.`] : []),
    ...(none.length > 0 ? [`No effect: ${none.join(', ')}.`] : []),
  ];
}

const needsQueue = (): WaybillError =>
  new WaybillError('invalid_request', 'SQS_QUEUE_URL is missing: the preset works on the messages of that queue.', {
    hint: 'Set it, or pass --transport poll to work on the jobs of a store alone.',
  });

/** Behind a server it is the server that receives messages. */
const needsStore = (store: string): WaybillError =>
  new WaybillError(
    'invalid_request',
    `Messages of SQS_QUEUE_URL become jobs of a store, not of ${shownAddress(store)}.`,
    {
      hint: 'Name a store: sqlite:FILE, postgres://.. or dynamodb://... Or leave out SQS_QUEUE_URL.',
    },
  );

/** A message names no type, so it cannot choose between tasks. */
const tooMany = (tasks: readonly AnyTask[]): WaybillError =>
  new WaybillError('invalid_request', `The preset runs one task, and there are ${tasks.length}.`, {
    hint: `Export one of ${tasks.map(({ name }) => name).join(', ')}; messages name no type.`,
  });

/** The task, isolated, with the environment, the policy and the rules for input of the preset. */
async function inPreset(task: AnyTask, module: string | undefined, settings: AgentConsumerSettings): Promise<AnyTask> {
  const { retry } = jobOptions(task, settings);
  const {
    isolate = module !== undefined && { module: pathToFileURL(module).href, inheritEnv: await agentVariables() },
  } = task;
  return {
    ...task,
    schema: checkedFirst(task.schema),
    policy: { ...task.policy, queue: QUEUE, timeout: settings.timeoutMs, retry },
    ...(isolate && { isolate: { ...isolate, env: { ...settings.env, ...isolate.env } }, runner: 'isolated' }),
  };
}

/** What agents need of the environment besides; nothing where the module has to do with none. */
async function agentVariables(): Promise<readonly string[]> {
  try {
    return (await loadOptional(NEEDS, () => import('@waybill/agent'))).AGENT_VARIABLES;
  } catch {
    return [];
  }
}
