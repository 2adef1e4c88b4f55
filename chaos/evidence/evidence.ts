import type { Job, LimitInfo, LoggedEvent, WorkflowState } from '@waybill/core';
import type { Pace } from '../actors/timing.ts';
import type { Note } from './note.ts';

/** How a life of an actor came to its end. */
export interface Ending {
  life: string;
  how: 'killed' | 'terminated' | 'died';
  code: number | null;
  signal: string | null;
  /** Whether it had come up before. */
  wasReady: boolean;
  at: number;
  /** The last line of its log, of a life that was told to end and had to be killed. */
  lastLine?: string;
}

export interface WorkflowSeen {
  id: string;
  /** The label of the call that asked for it. */
  name: string | null;
  state: WorkflowState;
  /** Its nodes; callbacks have no name. */
  nodes: { id: string; node: string | null; dependsOn: string[] }[];
}

/** A cron that fires every minute, whatever happens. */
export interface CronSeen {
  name: string;
  /** From when to when it was enabled. */
  from: number;
  to: number;
  /** How often it says that it has fired. */
  runs: number;
}

/** Everything that the audit looks at. */
export interface Evidence {
  jobs: ReadonlyMap<string, Job>;
  /** In the order in which the log gives it out. */
  log: readonly LoggedEvent[];
  /** What somebody was told who followed the log all the time. */
  followed: readonly LoggedEvent[];
  /** Of what had happened by then, all must have been told. */
  followedUntil: number;
  workflows: readonly WorkflowSeen[];
  /** The limits that jobs were held to. */
  limits: readonly LimitInfo[];
  crons: readonly CronSeen[];
  pace: Pace;
  notes: readonly Note[];
  endings: readonly Ending[];
  /** Whether the log is in the order of the commits, also between jobs. */
  isOrderExact: boolean;
  /** How far the times in the store and those in the journals may be apart. */
  clockErrorMs: number;
}
