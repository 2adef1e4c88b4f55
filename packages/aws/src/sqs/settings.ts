import { type Clock, invalidField, type Logger, stderrLogger, systemClock } from '@waybill/core';
import { type ClientTimeouts, type Timeouts, timeoutsOf } from '../timeouts.ts';
import type { Adopt } from './adopt.ts';
import type { Client } from './sdk.ts';

export interface SqsOptions {
  /** Begins the name of every queue. @defaultValue 'waybill' */
  prefix?: string;
  /** Comes next in the names, where several environments share an account. @defaultValue none */
  env?: string;
  /** Addresses of queues that are not named by the rule, by job queue. They are never created. */
  queues?: Record<string, QueueUrls>;
  /** Whose jobs the queues in `queues` carry. @defaultValue the tenant without a name */
  queuesTenant?: string;
  /** Whether queues that do not exist are made. @defaultValue true */
  createQueues?: boolean;
  /** Job queues in which messages of foreign producers become jobs; see adopt.ts. @defaultValue none */
  adopt?: Record<string, Adopt | true>;
  /**
   * How long one receive or one extension hides a message, where the lease is longer. From 1 to 43200. Make it longer
   * than the heartbeat of the workers. @defaultValue as long as the lease
   */
  visibilitySeconds?: number;
  /** The same for a receive alone, until the first extension. @defaultValue visibilitySeconds */
  receiveVisibilitySeconds?: number;
  /** The most messages that one receive asks for, from 1 to 10. @defaultValue 10 */
  messagesPerReceive?: number;
  /** @defaultValue what the environment says */
  region?: string;
  /** Another address than the region's, for example of an emulator. */
  endpoint?: string;
  /** A client of your own, in place of region and endpoint. Its timeouts are yours to set: docs/aws.md names them. */
  client?: Client;
  /** How long to wait for SQS. */
  timeouts?: ClientTimeouts;
  /** The store's, so that both mean the same time. @defaultValue systemClock */
  clock?: Clock;
  /** @defaultValue stderrLogger */
  logger?: Logger;
}

/** Without `high` and `low` all jobs go through `default`; without the others there is no such queue. */
export interface QueueUrls {
  default: string;
  high?: string;
  low?: string;
  redrive?: string;
  dead?: string;
}

export interface Settings extends Required<Pick<SqsOptions, 'queues' | 'createQueues' | 'clock' | 'logger'>> {
  /** Prefix and environment. */
  stem: string;
  adopt: Record<string, Adopt | true>;
  timeouts: Timeouts;
  /** The longest that one extension hides a message. */
  visibilityMs: number;
  /** The longest that one receive hides a message. */
  receiveVisibilityMs: number;
  messagesPerReceive: number;
  queuesTenant: string;
}

/** The longest that SQS itself waits for a message. */
export const LONGEST_POLL_MS = 20_000;

/** SQS takes ten of anything in one request. */
export const PER_REQUEST = 10;

/** The longest that SQS hides a message. */
export const LONGEST_VISIBILITY_S = 43_200;

const PART = /^[A-Za-z0-9_-]{1,40}$/;

export function settingsOf(options: SqsOptions): Settings {
  const { prefix = 'waybill', env } = options;
  if (!PART.test(prefix)) throw invalidField('prefix', 'must be 1 to 40 letters, digits and _ -');
  if (env !== undefined && !PART.test(env)) throw invalidField('env', 'must be 1 to 40 letters, digits and _ -');
  return {
    stem: env === undefined ? prefix : `${prefix}-${env}`,
    queues: options.queues ?? {},
    createQueues: options.createQueues ?? true,
    adopt: options.adopt ?? {},
    timeouts: timeoutsOf(options.timeouts),
    visibilityMs: 1000 * visibilityOf('visibilitySeconds', options.visibilitySeconds),
    receiveVisibilityMs:
      1000 * visibilityOf('receiveVisibilitySeconds', options.receiveVisibilitySeconds ?? options.visibilitySeconds),
    messagesPerReceive: wholeNumber('messagesPerReceive', options.messagesPerReceive ?? PER_REQUEST, PER_REQUEST),
    queuesTenant: options.queuesTenant ?? '',
    clock: options.clock ?? systemClock,
    logger: options.logger ?? stderrLogger,
  };
}

/** Whole seconds, as SQS takes them. */
const visibilityOf = (name: string, seconds: number = LONGEST_VISIBILITY_S): number =>
  wholeNumber(name, seconds, LONGEST_VISIBILITY_S);

function wholeNumber(name: string, value: number, max: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw invalidField(name, `must be an integer from 1 to ${max}.`, { min: 1, max });
}
