import type { Told } from '../events/subject-event.ts';

export const WORKER_DIRECTIVES = ['running', 'quiet', 'terminate'] as const;

/** What the server tells a worker to do: go on, take no new jobs, or finish and end. */
export type WorkerDirective = (typeof WORKER_DIRECTIVES)[number];

export interface WorkerBeat {
  tenant: string;
  id: string;
  activeJobs: number;
  /** Which start of the worker this is. Another one than before goes on, whatever the last one was told. */
  instance?: string;
  now: number;
  /** Told when the worker was not known before. */
  told?: Told;
}

export interface WorkerInfo {
  tenant: string;
  id: string;
  activeJobs: number;
  firstSeenAt: number;
  lastSeenAt: number;
  directive: WorkerDirective;
}

/** Who works here. Only for people and for directives: leases live in the job rows. */
export interface WorkerStore {
  /** Notes that the worker lives and answers what this instance of it was told to do. */
  beat(beat: WorkerBeat): Promise<WorkerDirective>;
  /** Null when no such worker was ever seen. Tells only what changes something. */
  direct(tenant: string, id: string, directive: WorkerDirective, told?: Told): Promise<WorkerInfo | null>;
  list(tenant: string): Promise<WorkerInfo[]>;
}
