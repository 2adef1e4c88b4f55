import { ALL_TENANTS, checkNames, checkNodeVersion, type LoggedEvent, type Sink, SYSTEM_TENANT } from '@waybill/core';
import type { BusEvent } from './envelope.ts';
import { LOG_TYPES } from './event-types.ts';
import { openClient } from './open-client.ts';
import { Publisher } from './publisher.ts';
import { type EventBusOptions, settingsOf } from './settings.ts';
import { Translation } from './translate.ts';

/** Enough that requests are full while events come fast: four of ten entries each. */
const PARALLEL = 40;

const OPTIONS: Record<keyof EventBusOptions, true> = {
  ...{ waybill: true, bus: true, app: true, environment: true, blobs: true, region: true, endpoint: true },
  ...{ client: true, timeouts: true, clock: true, logger: true },
};

export interface EventBus {
  /** Sends the events of all tenants, each at least once, those of one job in order, from where it stopped. */
  readonly sink: Sink;
  /** For a process that has the events already, such as a function at the stream of the table. All or an error. */
  publish(events: readonly LoggedEvent[]): Promise<void>;
  /** Puts an event that was made elsewhere. */
  put(event: BusEvent): Promise<void>;
  close(): void;
}

/** An event bus of EventBridge that is told what happens to tasks and jobs. */
export async function eventBus(options: EventBusOptions): Promise<EventBus> {
  checkNodeVersion();
  checkNames('eventBus()', options, Object.keys(OPTIONS));
  const settings = settingsOf(options);
  const { app, bus, environment } = settings;
  const client = await openClient(options);
  const publisher = new Publisher(client, settings, new Translation({ source: options.waybill, app, environment }));
  const sink: Sink = {
    // A cursor of its own for each bus and application: two buses are told everything each.
    ...{ tenant: SYSTEM_TENANT, id: `event-bus:${bus}:${app}`, of: ALL_TENANTS, parallel: PARALLEL },
    ...{ filter: { types: LOG_TYPES }, target: { kind: 'event-bus' } },
    deliver: ({ event }, signal) => unlessAborted(publisher.publish(event), signal),
  };
  return {
    sink,
    publish: (events) => publishInOrder(publisher, events),
    put: (event) => publisher.put(event),
    close: () => client.close(),
  };
}

/** Those of one job one after the other, since two requests may overtake each other; different jobs side by side. */
async function publishInOrder(publisher: Publisher, events: readonly LoggedEvent[]): Promise<void> {
  const lines = Map.groupBy(events, ({ tenant, jobId, subject }) => [tenant, subject ?? jobId].join('\n'));
  const sending = [...lines.values()].map(async (line) => {
    for (const event of line) await publisher.publish(event);
  });
  const failed = (await Promise.allSettled(sending)).find(({ status }) => status === 'rejected');
  if (failed) throw (failed as PromiseRejectedResult).reason;
}

/** A request that is under way ends by its own deadline, and nothing waits for it any more. */
function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => reject(new Error('The delivery was aborted.'));
    signal.addEventListener('abort', end, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', end));
  });
}
