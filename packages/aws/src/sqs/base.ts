import type { Client, Sdk } from './sdk.ts';
import type { Settings } from './settings.ts';

/** What every part of the transport works with. */
export interface Base {
  sdk: Sdk;
  client: Client;
  /** For receives that wait. */
  poller: Client;
  settings: Settings;
}
