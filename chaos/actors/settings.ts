import { ERROR_CODES, silentLogger } from '@waybill/core';
import { type Connection, connect } from 'waybill';
import type { Refusal } from '../evidence/note.ts';
import type { Pace } from './timing.ts';

/** What a process is told on its command line, as JSON. */
export interface ActorSettings {
  /** Which life of which actor. */
  life: string;
  /** A store or a server, by way of a link where there is a network in between. */
  url: string;
  journal: string;
  seed: string;
  pace: Pace;
  /** Of this producer alone. */
  jobsPerSecond: number;
}

export const readSettings = (): ActorSettings => JSON.parse(process.argv[2]!) as ActorSettings;

/** On a store every process does upkeep, and finds due rows soon. */
export const open = ({ url, pace: { leaseMs, sweepEveryMs } }: ActorSettings): Promise<Connection> =>
  connect(url, {
    logger: silentLogger,
    ...(!url.startsWith('http') && { engine: { leaseMs, sweepEveryMs } }),
  });

/** By its fields, since the remote client has an error class of its own. */
export function refusalOf(error: unknown): Refusal {
  const { code } = error as { code?: unknown };
  return ERROR_CODES.find((one) => one === code) ?? 'unknown';
}

/** Whether the same call may be answered later. */
export const mayRepeat = (code: Refusal): boolean =>
  ['unknown', 'unavailable', 'timeout', 'resource_exhausted', 'rate_limited', 'internal'].includes(code);

/** For whoever has started this process. */
export const tellReady = (): void => {
  process.stdout.write('ready\n');
};
