import { type Clock, checkNames, checkNodeVersion, invalidField, systemClock } from '@waybill/core';
import { absent } from '../../dynamodb/conditions.ts';
import { Database } from '../../dynamodb/database.ts';
import { openClient } from '../../dynamodb/open-client.ts';
import type { Client } from '../../dynamodb/sdk.ts';
import { type ClientTimeouts, timeoutsOf } from '../../timeouts.ts';
import type { BusEvent } from '../envelope.ts';
import { createEventTable } from './create-table.ts';
import { itemOf } from './event-item.ts';
import { EventQuery } from './event-query.ts';
import { type JobQueries, jobQueries } from './job-queries.ts';
import { type TaskQueries, taskQueries } from './task-queries.ts';
import { type TimelineQueries, timelineQueries } from './timeline-queries.ts';

export interface EventTableOptions {
  /** The table's name, such as `events-prod`. */
  table: string;
  /** Make the table when it does not exist. @defaultValue false */
  createTable?: boolean;
  /** Events are removed this many days after they happened. @defaultValue 90 */
  ttlDays?: number;
  /** @defaultValue what the environment says */
  region?: string;
  /** Another address than the region's, for emulators. */
  endpoint?: string;
  /** A client of your own, in place of region and endpoint. */
  client?: Client;
  timeouts?: ClientTimeouts;
  /** @defaultValue the clock of this machine */
  clock?: Clock;
}

const OPTIONS: Record<keyof EventTableOptions, true> = {
  ...{ table: true, createTable: true, ttlDays: true, region: true, endpoint: true, client: true },
  ...{ timeouts: true, clock: true },
};

const DAY_MS = 86_400_000;
const DEFAULT_TTL_DAYS = 90;

/** The table of all events of an event bus, and what can be asked of it. Indexes may be some moments late. */
export interface EventTable extends TaskQueries, JobQueries, TimelineQueries {
  /** Saves an event, once however often it comes. Answers whether it is new. */
  save(event: BusEvent): Promise<boolean>;
  close(): void;
}

export async function eventTable(options: EventTableOptions): Promise<EventTable> {
  checkNodeVersion();
  checkNames('eventTable()', options, Object.keys(OPTIONS));
  const { table, createTable = false, ttlDays = DEFAULT_TTL_DAYS, clock = systemClock } = options;
  if (!/^[a-zA-Z0-9_.-]{3,255}$/.test(table)) throw invalidField('table', 'must be 3 to 255 letters, digits and . _ -');
  if (!(ttlDays > 0)) throw invalidField('ttlDays', 'must be a number above 0.');
  const timeouts = timeoutsOf(options.timeouts);
  const { sdk, client, close } = await openClient(options);
  if (createTable) await createEventTable({ sdk, client, table, timeouts });
  const database = new Database(sdk, client, { table, timeouts });
  const query = new EventQuery(database);
  const tasks = taskQueries(query, clock);
  return {
    save: async (event) => {
      const expiresAt = Math.ceil((event.timestamp + ttlDays * DAY_MS) / 1_000);
      const put = itemOf({ ...event, receivedAt: clock.now() }, expiresAt);
      return (await database.write({ put, if: absent() })).ok;
    },
    ...tasks,
    ...jobQueries(query, tasks),
    ...timelineQueries(query),
    close,
  };
}
