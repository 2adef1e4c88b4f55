import type { Workload } from '../result.ts';

/** Servers that outlive the runs; goes to every run as JSON. */
export interface Servers {
  postgres?: string;
  redis?: string;
  dynamodb?: string;
  sqs?: string;
}

export interface Host {
  servers: Servers;
  /** The database of a system and how durable it is, for every result; nothing where the settings say it. */
  serverOf(system: string): string | undefined;
  /** Systems that cannot run here, and why. */
  missing: Record<string, string>;
  close(): Promise<void>;
}

/** A fresh place for one run. */
export interface Place {
  store: string;
  redis?: string;
  dynamodb?: string;
  sqs?: string;
  remove(): Promise<void>;
}

/** A store that can be measured: what is run on it, and what has to stand around the runs. */
export interface BenchStore {
  /** Where nobody says how many. @defaultValue 5 */
  rounds?: number;
  workloads: Record<string, Workload>;
  /** Starts what all runs share, in a folder that is removed afterwards. */
  host(folder: string, options: { postgresUrl?: string }): Promise<Host>;
  place(folder: string, servers: Servers): Promise<Place>;
}
