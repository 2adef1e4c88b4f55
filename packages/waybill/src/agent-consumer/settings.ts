import { WaybillError } from '@waybill/core';
import { readValue, ruleOf } from '../config/kinds.ts';
import { shownAddress, shownWord } from '../connect/shown-address.ts';
import { OF_A_PROCESS, type PresetVariable, VARIABLES } from './variables.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** The environment of the preset, checked, with its defaults. */
export interface AgentConsumerSettings {
  queueUrl: string | undefined;
  region: string;
  /** Of one receive. */
  messages: number;
  waitMs: number;
  /** Of a receive, until the first extension. */
  receiveVisibilitySeconds: number;
  visibilitySeconds: number;
  heartbeatMs: number;
  leaseMs: number;
  maxAttempts: number;
  /** Of one run. */
  timeoutMs: number;
  processes: number;
  tenant: string | undefined;
  bucket: string | undefined;
  /** What the process of a run gets. */
  env: Readonly<Record<string, string>>;
  /** Variables that are set and do nothing, or nothing yet. */
  idle: readonly PresetVariable[];
}

/** A lease outlives a heartbeat that is late by half the time of an extension: clocks differ. */
const LEASE_FACTOR = 1.5;

/** Refuses a wrong value by the name of its variable. A variable that is empty counts as one that is not set. */
export function readSettings(env: Env): AgentConsumerSettings {
  const set = (name: string): string | undefined => env[name] || undefined;
  const problems = VARIABLES.flatMap((variable) => problemOf(variable, set(variable.name)) ?? []);
  problems.push(...togetherProblems(set));
  if (problems.length > 0) throw refusedFor(problems);

  const text = (name: string): string | undefined => set(name) ?? VARIABLES.find((one) => one.name === name)!.default;
  const number = (name: string): number => Number(text(name));
  const visibilitySeconds = number('VISIBILITY_EXTENSION_AMOUNT');
  const settings: AgentConsumerSettings = {
    queueUrl: text('SQS_QUEUE_URL'),
    region: text('AWS_REGION')!,
    messages: number('MAX_MESSAGES'),
    waitMs: 1_000 * number('WAIT_TIME_SECONDS'),
    receiveVisibilitySeconds: number('VISIBILITY_TIMEOUT'),
    visibilitySeconds,
    heartbeatMs: number('VISIBILITY_EXTENSION_INTERVAL'),
    leaseMs: 1_000 * LEASE_FACTOR * visibilitySeconds,
    maxAttempts: number('MAX_MESSAGE_RETRIES'),
    timeoutMs: number('CLAUDE_TIMEOUT'),
    processes: number('MAX_CONCURRENT_CLAUDE'),
    tenant: text('TENANT_ID'),
    bucket: text('S3_BUCKET'),
    env: Object.fromEntries(
      OF_A_PROCESS.flatMap((name) => {
        const value = text(name);
        return value === undefined ? [] : [[name, value] as const];
      }),
    ),
    idle: VARIABLES.filter(({ name, effect }) => (effect === 'later' || effect === 'none') && set(name) !== undefined),
  };
  if (settings.heartbeatMs < settings.leaseMs) return settings;
  throw refusedFor([
    `VISIBILITY_EXTENSION_INTERVAL is ${settings.heartbeatMs} ms, and a lease lasts ${settings.leaseMs} ms: 1.5 x VISIBILITY_EXTENSION_AMOUNT. The interval must be shorter.`,
  ]);
}

function problemOf({ name, kind, secret, check }: PresetVariable, value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  const shown = secret ? 'a secret' : `'${kind.is === 'address' ? shownAddress(value) : shownWord(value)}'`;
  if (readValue(kind, value) === undefined) return `${name} ${ruleOf(kind)}, not ${shown}.`;
  const rule = check?.(value);
  return rule === undefined ? undefined : `${name} must ${rule}, not ${shown}.`;
}

const KEYS = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'] as const;

/** One half of a pair of keys would make the AWS SDK look for others, and sign by an account that nobody meant. */
function togetherProblems(set: (name: string) => string | undefined): string[] {
  const missing = KEYS.filter((name) => set(name) === undefined);
  return missing.length === 1 ? [`${missing[0]} is missing: ${KEYS.join(' and ')} belong together.`] : [];
}

const refusedFor = (problems: readonly string[]): WaybillError =>
  new WaybillError(
    'invalid_request',
    problems.length === 1 ? problems[0]! : problems.map((problem) => `\n  ${problem}`).join(''),
    { hint: 'docs/agent-consumer.md lists the variables of the preset.' },
  );
