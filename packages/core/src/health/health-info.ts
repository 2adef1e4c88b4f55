import type { FailingItem } from '../maintenance/failing-items.ts';

export interface Health {
  status: 'ok' | 'degraded';
  store: Pulse;
  /** What carries the hints, where it is something beside the store. */
  transport?: Pulse;
  /** Absent where the process that was asked does no maintenance, and no other one has noted that it fails. */
  maintenance?: MaintenanceHealth;
  /** Absent where there are none. They are no fault of the server, so the status does not depend on them. */
  unknownTypes?: UnknownTypesHealth;
  /** Absent where there are none. They are the fault of receivers, so the status does not depend on them either. */
  sinks?: readonly AilingSink[];
}

/** A webhook or the like that this process could not deliver to, or has found paused after long failure. */
export interface AilingSink {
  tenant: string;
  id: string;
  status: 'failing' | 'paused';
  /** Since when it fails; null: not known. */
  since: number | null;
  reason: string;
}

/** Jobs that workers have lately handed back to this process because they have no task of that type. */
export interface UnknownTypesHealth {
  jobs: number;
  /** The first few, those with most jobs first. */
  types: readonly UnknownType[];
}

export interface UnknownType {
  type: string;
  queue: string;
  jobs: number;
  /** Which worker had no task, and which of its tasks may be meant. */
  reason: string;
  /** When the next of the jobs is given out again. */
  nextTryAt: number;
}

/** Whether the sweep and the pruning get on, in this process and in those that share its store. */
export interface MaintenanceHealth {
  status: 'ok' | 'failing';
  /** Jobs and crons that could not be dealt with and were put off. */
  failing: number;
  /** The first few of them. */
  items: readonly FailingItem[];
  /** Why a whole round failed, where one did. */
  reason?: string;
}

/** Whether something answers that the engine stands on. */
export interface Pulse {
  name: string;
  status: 'ok' | 'unhealthy';
  latencyMs: number;
  /** What is wrong, where that is known. */
  reason?: string;
}
