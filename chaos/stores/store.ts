import type { Pace } from '../actors/timing.ts';
import type { Target } from '../network/link.ts';
import type { StoreFault } from '../plan/fault.ts';
import type { Guard } from '../run/guard.ts';

/** A kind of store, and what is known of it before one is opened. */
export interface ChaosStore {
  /** Whether there is a network between engines and the database. */
  hasNetwork: boolean;
  faults: readonly StoreFault[];
  pace: Pace;
  /** Whether the log is in the order of the commits, also between jobs. */
  isOrderExact: boolean;
  /** How far the times in the store and those in the journals may be apart. */
  clockErrorMs: number;
  /**
   * After this time a reader of the log knows that a writer is gone, which it must wait for otherwise. At the end all
   * writers are gone, so the clock of the audit is set ahead by it. @defaultValue 0
   */
  orphanedAfterMs?: number;
  /** Starts the database, in a folder that is removed afterwards. */
  open(opening: Opening): Promise<OpenStore>;
}

export interface Opening {
  folder: string;
  guard: Guard;
  minutes: number;
}

/** A database with nothing in it. */
export interface OpenStore {
  /** For whoever is not to be cut off. */
  url: string;
  /** The same by way of a link that listens on this port. */
  urlVia(port: number): string;
  /** Where links lead; absent where there is no network. */
  target?: Target;
  /** What every process needs in its environment. */
  env: Record<string, string>;
  /** Faults that cannot be injected on this machine, and why. */
  leftOut: Partial<Record<StoreFault, string>>;
  /** Resolves when everything is well again. */
  inject(fault: StoreFault, lastsMs: number): Promise<void>;
  close(): Promise<void>;
}
