import { type BlobStore, type Clock, invalidField, type Logger, stderrLogger, systemClock } from '@waybill/core';
import { type ClientTimeouts, type Timeouts, timeoutsOf } from '../timeouts.ts';
import type { FactSource } from './facts.ts';
import type { OverflowBlobs } from './overflow.ts';
import type { Client } from './sdk.ts';

export interface EventBusOptions {
  /** Reads the rows that events are about: an engine, or a client of a server. */
  waybill: FactSource;
  /** The name or the ARN of the bus. */
  bus: string;
  /** Which application the events are of: their source is `task-workflow.{app}`. */
  app: string;
  /** What `context.environment` says. @defaultValue 'production' */
  environment?: string;
  /** Where the large properties of an event go. @defaultValue nowhere: they are left out, and the event names them */
  blobs?: { store: BlobStore; bucket?: string };
  /** @defaultValue what the environment says */
  region?: string;
  /** Another address than the region's, for emulators. */
  endpoint?: string;
  /** A client of your own, in place of region and endpoint. Its timeouts are yours to set. */
  client?: Client;
  timeouts?: ClientTimeouts;
  /** @defaultValue the clock of this machine */
  clock?: Clock;
  /** @defaultValue stderrLogger */
  logger?: Logger;
}

export interface EventBusSettings {
  bus: string;
  app: string;
  environment: string;
  blobs: OverflowBlobs | undefined;
  timeouts: Timeouts;
  clock: Clock;
  logger: Logger;
}

export const APP = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const BUS = /^[A-Za-z0-9._/:-]{1,256}$/;

export function settingsOf(options: EventBusOptions): EventBusSettings {
  const { bus, app, environment = 'production', blobs, clock = systemClock, logger = stderrLogger } = options;
  if (!BUS.test(bus)) throw invalidField('bus', 'must be the name or the ARN of an event bus.');
  if (!APP.test(app)) throw invalidField('app', 'must be 1 to 64 letters, digits and . _ -');
  return { bus, app, environment, blobs, timeouts: timeoutsOf(options.timeouts), clock, logger };
}
