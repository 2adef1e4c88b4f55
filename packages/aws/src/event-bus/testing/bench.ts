import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { type Engine, type JobEvent, type LoggedEvent, type Outcome, silentLogger } from '@waybill/core';
import { type TestEngine, testEngine } from '@waybill/core/testing';
import { onTestFinished } from 'vitest';
import { startEventBus } from '../../cloud/event-bus.ts';
import { type BusEvent, eventIn } from '../envelope.ts';
import { type EventBus, eventBus } from '../event-bus.ts';
import type { Client } from '../sdk.ts';
import type { EventBusOptions } from '../settings.ts';
import { Translation } from '../translate.ts';

export const APP = 'shop';

export interface BusBench extends TestEngine {
  bus: EventBus;
  /** What was put on the bus. */
  events(): BusEvent[];
  /** Types of the events of one task or job, in the order in which they were put. */
  typesOf(name: { requestId?: string; jobId?: string }): string[];
  /** How many entries each request had. */
  requests: number[];
}

const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };

/** An engine, and a local EventBridge with the real SDK in between. `around` stands in front of the client. */
export async function busBench(
  options: Partial<EventBusOptions> & { around?: (client: Client) => Client } = {},
): Promise<BusBench> {
  const { around = (client) => client, ...others } = options;
  const made = testEngine();
  const local = await startEventBus({ host: '127.0.0.1', port: 0, region: 'us-east-1', deliver: () => {} });
  const client = new EventBridgeClient({ endpoint: local.endpoint, region: 'us-east-1', credentials, maxAttempts: 1 });
  onTestFinished(async () => {
    client.destroy();
    await local.stop();
  });
  const requests: number[] = [];
  const counted = {
    send: (command: { input: { Entries: unknown[] } }) => {
      requests.push(command.input.Entries.length);
      return client.send(command as never);
    },
  } as unknown as Client;
  const given = { waybill: made.waybill, clock: made.clock, logger: silentLogger, client: around(counted) };
  const bus = await eventBus({ bus: 'tasks', app: APP, ...given, ...others });
  const events = () => local.events.flatMap((event) => eventIn(event) ?? []);
  const isOf = ({ properties }: BusEvent, name: object) =>
    Object.entries(name).every(([field, value]) => properties[field] === value);
  return {
    ...{ ...made, bus, events, requests },
    typesOf: (name) => events().flatMap((event) => (isOf(event, name) ? event.eventType : [])),
  };
}

/** Runs the sink, from now on. */
export async function running({ waybill, clock, bus }: BusBench): Promise<void> {
  waybill.sinks.run({ list: async () => [bus.sink] });
  await clock.advance(1_000);
}

/** Waits until the bus has so many events: requests take real time, which the test's clock does not. */
export async function whenPut(made: BusBench, count: number): Promise<BusEvent[]> {
  while (made.events().length < count) {
    await made.clock.advance(100);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return made.events();
}

export const settle = (
  waybill: Engine,
  { job, token }: { job: { id: string; tenant: string }; token: string },
  outcome: Outcome,
) => waybill.jobs.settle({ id: job.id, tenant: job.tenant, leaseToken: token, outcome });

/** The whole log as the bus has it. */
export async function translated(waybill: Engine): Promise<BusEvent[]> {
  const translation = new Translation({ source: waybill, app: APP, environment: 'test' });
  const found: BusEvent[] = [];
  const { events } = await waybill.events.read({ limit: 1_000, filter: { tenant: '*' } });
  for (const event of events) {
    const one = await translation.of(await waybill.sinks.open(event));
    if (one) found.push(one);
  }
  return found;
}

/** An event of a job as the log has it. */
export const logged = (event: Partial<JobEvent> & Pick<JobEvent, 'type'>): LoggedEvent => ({
  ...{ tenant: '', jobId: '01900000-0000-7000-8000-000000000001', jobType: 'a.b', queue: 'q', run: 1, attempt: 1 },
  ...{ source: 'server', sequence: 1, at: 1_700_000_000_000, data: {}, cursor: 'c', ...event },
});
