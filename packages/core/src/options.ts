import type { BlobOptions } from './blobs/offloaded-store.ts';
import type { Clock } from './clock.ts';
import { WaybillError } from './errors.ts';
import { type HealthOptions, type HealthSettings, healthSettings } from './health/health-options.ts';
import { checkLogger, type Logger } from './logger.ts';
import type { EngineObserver } from './observer.ts';
import { stderrLogger } from './stderr-logger.ts';
import type { Store } from './store/store.ts';
import type { Transport } from './transport/transport.ts';

export interface EngineOptions {
  store: Store;
  /** What carries hints. @defaultValue poll: the store itself, with wake-ups */
  transport?: Transport;
  /** Where payloads go that are too large for a row. All processes of one store need the same. @defaultValue nowhere */
  blobs?: BlobOptions;
  /** @defaultValue stderrLogger: warnings and errors, one line each */
  logger?: Logger;
  /** Lease length when neither the job nor the claim names one. @defaultValue 300_000 */
  leaseMs?: number;
  /** Whether this engine also does upkeep: due rows, pruning. Any number of engines may. @defaultValue true */
  maintenance?: boolean;
  /** Longest pause between two looks at due rows; other servers' rows are found this late. @defaultValue 1_000 */
  sweepEveryMs?: number;
  retention?: RetentionOptions;
  journal?: JournalOptions;
  /** Health checks on an interval, of whichever engine does maintenance. @defaultValue none; `checks` answers all the same */
  health?: HealthOptions;
  /** Told what the engine does, for metrics. @defaultValue none, and nothing is told */
  observer?: EngineObserver;
}

export interface JournalOptions {
  /** What all runs of one job may say together; what is more is cut, and the journal says so. @defaultValue 64 MiB */
  maxBytes?: number;
}

export interface RetentionOptions {
  /** Finished jobs. @defaultValue 7 days */
  finishedMs?: number;
  /** Dead letters whose jobs do not say for how long. @defaultValue 90 days */
  deadMs?: number;
  /** Events. @defaultValue 7 days */
  eventsMs?: number;
  /** What runs have said; it goes with its job in any case. @defaultValue 30 days */
  journalMs?: number;
  /**
   * Workers that were not seen, and limits and queues that were not used. A limit or a queue that somebody has set up stays.
   * Never less than the longest of the three above. @defaultValue 30 days
   */
  unusedMs?: number;
  /** How often to look for what is too old. @defaultValue 60_000 */
  everyMs?: number;
}

const DAY_MS = 86_400_000;

const DEFAULTS = { logger: stderrLogger, leaseMs: 300_000, maintenance: true, sweepEveryMs: 1_000 } as const;

const RETENTION_DEFAULTS = {
  finishedMs: 7 * DAY_MS,
  deadMs: 90 * DAY_MS,
  eventsMs: 7 * DAY_MS,
  journalMs: 30 * DAY_MS,
  unusedMs: 30 * DAY_MS,
  everyMs: 60_000,
} satisfies Required<RetentionOptions>;

const JOURNAL_DEFAULTS = { maxBytes: 64 * 1_024 * 1_024 } satisfies Required<JournalOptions>;

export type ResolvedOptions = Required<
  Omit<EngineOptions, 'transport' | 'blobs' | 'retention' | 'observer' | 'journal' | 'health'>
> & {
  transport: Transport | undefined;
  blobs: BlobOptions | undefined;
  observer?: EngineObserver;
  retention: Required<RetentionOptions>;
  journal: Required<JournalOptions>;
  health: HealthSettings;
  clock: Clock;
};

export function resolveOptions(options: EngineOptions): ResolvedOptions {
  const retention = { ...RETENTION_DEFAULTS, ...options.retention };
  const resolved = {
    transport: undefined,
    blobs: undefined,
    ...DEFAULTS,
    ...options,
    retention,
    journal: { ...JOURNAL_DEFAULTS, ...options.journal },
    health: healthSettings({ rounds: options.health !== undefined, ...options.health }),
    clock: options.store.clock,
  };
  checkLogger(resolved.logger);
  checkPositive('leaseMs', resolved.leaseMs);
  checkPositive('sweepEveryMs', resolved.sweepEveryMs);
  checkPositive('journal.maxBytes', resolved.journal.maxBytes);
  if (resolved.blobs?.threshold !== undefined) checkThreshold(resolved.blobs.threshold);
  for (const [name, value] of Object.entries(retention)) checkPositive(`retention.${name}`, value);
  const { finishedMs, deadMs, eventsMs, unusedMs } = retention;
  // A queue is listed as long as jobs of it are kept, and no number of an event is given out twice.
  retention.unusedMs = Math.max(finishedMs, deadMs, eventsMs, unusedMs);
  return resolved;
}

function checkPositive(name: string, value: number): void {
  if (Number.isFinite(value) && value > 0) return;
  throw new WaybillError('invalid_request', `The option '${name}' must be a number above 0, not ${value}.`);
}

/** A reference takes the place of a payload, so the payload should be the larger of the two. */
const SMALLEST_THRESHOLD = 16;

function checkThreshold(value: number): void {
  if (Number.isSafeInteger(value) && value >= SMALLEST_THRESHOLD) return;
  const rule = `must be a whole number of bytes, at least ${SMALLEST_THRESHOLD}, not ${value}`;
  throw new WaybillError('invalid_request', `The option 'blobs.threshold' ${rule}.`);
}
