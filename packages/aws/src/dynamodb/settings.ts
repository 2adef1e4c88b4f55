import { type Clock, invalidField, type Logger, type Retention, stderrLogger, systemClock } from '@waybill/core';
import type { ServicePlace } from '../first-answer.ts';
import { type ClientTimeouts, type Timeouts, timeoutsOf } from '../timeouts.ts';
import type { DynamoObserver } from './observed-client.ts';
import type { Client } from './sdk.ts';

export interface DynamoOptions {
  /** The table's name. It is made when it does not exist, unless `createTable` is false. */
  table: string;
  /** @defaultValue true */
  createTable?: boolean;
  /** @defaultValue what the environment says */
  region?: string;
  /** Another address than the region's, for example of DynamoDB Local. */
  endpoint?: string;
  /** A client of your own, in place of region and endpoint. Its timeouts are yours to set: docs/aws.md names them. */
  client?: Client;
  /** How long to wait for DynamoDB. */
  timeouts?: ClientTimeouts;
  /**
   * `index`: jobs can be claimed by rank, as the poll transport does. `none`: jobs are claimed by id only, as a queue
   * hints at them, and each costs two write units less.
   * @defaultValue 'index'
   */
  ready?: 'index' | 'none';
  /**
   * How long what is over is kept, unless the engine is told. DynamoDB removes it by itself, so the store must know
   * beforehand.
   */
  retention?: DynamoRetention;
  shards?: DynamoShards;
  /** Items in one transaction at most; larger groups are staged. DynamoDB's own bound is 100. @defaultValue 100 */
  largestTransaction?: number;
  /** In place of DynamoDB's own time, which the store goes by otherwise: for tests. @defaultValue DynamoDB's time */
  clock?: Clock;
  /** @defaultValue stderrLogger */
  logger?: Logger;
  /** Told of every request, for metrics. @defaultValue none */
  observer?: DynamoObserver;
}

export interface DynamoRetention {
  /** @defaultValue 7 days */
  finishedMs?: number;
  /** @defaultValue 90 days */
  deadMs?: number;
  /** @defaultValue 7 days */
  eventsMs?: number;
  /**
   * What runs have said, from when it was stored. Their jobs hide it when they go. 0 or Infinity: for as long as the job,
   * whose end then costs a write of each batch. @defaultValue 30 days
   */
  journalMs?: number;
  /** Workers, and limits and queues that nobody has set up, since their last use. @defaultValue 30 days */
  unusedMs?: number;
}

/** One partition takes 1,000 writes a second. Order holds within a shard, so take as few as will do; never fewer again. */
export interface DynamoShards {
  /** Of alarms, for the whole table. @defaultValue 1 */
  due?: number;
  /** Of every queue that is not named. @defaultValue 1 */
  queue?: number;
  queues?: Record<string, number>;
}

const DAY_MS = 86_400_000;
const RETENTION: Retention = {
  finishedMs: 7 * DAY_MS,
  deadMs: 90 * DAY_MS,
  eventsMs: 7 * DAY_MS,
  journalMs: 30 * DAY_MS,
  unusedMs: 30 * DAY_MS,
};
const MOST_SHARDS = 256;

export interface Settings {
  /** For messages. */
  place: ServicePlace;
  table: string;
  createTable: boolean;
  claimsByRank: boolean;
  /** Read at every end, since an engine may have a say in it. */
  retention: Retention;
  largestTransaction: number;
  timeouts: Timeouts;
  dueShards: number;
  shardsOf(queue: string): number;
  clock: Clock;
  logger: Logger;
}

export function settingsOf(options: DynamoOptions): Settings {
  if (!/^[a-zA-Z0-9_.-]{3,255}$/.test(options.table)) {
    throw invalidField('table', 'must be 3 to 255 letters, digits and . _ -');
  }
  const { due = 1, queue = 1, queues = {} } = options.shards ?? {};
  for (const count of [due, queue, ...Object.values(queues)]) {
    if (!Number.isInteger(count) || count < 1 || count > MOST_SHARDS) {
      throw invalidField('shards', `must be whole numbers from 1 to ${MOST_SHARDS}`);
    }
  }
  const retention = mergeRetention(RETENTION, options.retention ?? {});
  const { region, endpoint } = options;
  return {
    place: { service: 'DynamoDB', region, endpoint },
    table: options.table,
    createTable: options.createTable ?? true,
    claimsByRank: options.ready !== 'none',
    retention,
    largestTransaction: options.largestTransaction ?? 100,
    timeouts: timeoutsOf(options.timeouts),
    dueShards: due,
    shardsOf: (name) => queues[name] ?? queue,
    clock: options.clock ?? systemClock,
    logger: options.logger ?? stderrLogger,
  };
}

/** How long what is not used is kept: never less than what it has to do with. */
export const unusedMsOf = ({ retention }: Pick<Settings, 'retention'>): number => {
  // Journals stand beside their jobs, and have nothing to do with what is used or not.
  const { journalMs: _, ...others } = retention;
  return Math.max(...Object.values(others));
};

/** Only these: an engine's options say more, which is no store's business. */
export function mergeRetention(known: Retention, told: Partial<Retention>): Retention {
  const { finishedMs = known.finishedMs, deadMs = known.deadMs, eventsMs = known.eventsMs } = told;
  const { journalMs = known.journalMs, unusedMs = known.unusedMs } = told;
  const retention = { finishedMs, deadMs, eventsMs, journalMs: journalMs === 0 ? Infinity : journalMs, unusedMs };
  for (const [name, value] of Object.entries(retention)) {
    if (!(value > 0)) throw invalidField(`retention.${name}`, 'must be a number above 0');
  }
  return retention;
}
