/** What is done to processes. */
export const PROCESS_FAULTS = ['kill', 'pause', 'long-pause', 'terminate'] as const;

/** What is done to the network between a process and its server or database. */
export const LINK_FAULTS = ['reset', 'lose-answers', 'stall', 'black-hole'] as const;

/** What is done to the store as a whole; each store says which of them it takes. */
export const STORE_FAULTS = ['restart-database', 'crash-database', 'fill-disk', 'lock-file'] as const;

export type ProcessFault = (typeof PROCESS_FAULTS)[number];
export type LinkFault = (typeof LINK_FAULTS)[number];
export type StoreFault = (typeof STORE_FAULTS)[number];
export type FaultKind = ProcessFault | LinkFault | StoreFault;

/** One thing that goes wrong, at its time since the beginning. */
export interface Fault {
  atMs: number;
  kind: FaultKind;
  /** The name of an actor, or `store`. */
  target: string;
  /** Until the process runs again, the network passes bytes again, or the disk has room again. */
  lastsMs: number;
}

export const ABOUT: Readonly<Record<FaultKind, string>> = {
  kill: 'SIGKILL, started again',
  pause: 'SIGSTOP for less than a lease',
  'long-pause': 'SIGSTOP for longer than a lease',
  terminate: 'SIGTERM, started again',
  reset: 'connections reset',
  'lose-answers': 'requests pass, answers are lost',
  stall: 'bytes held back, then delivered',
  'black-hole': 'bytes swallowed, connections dead',
  'restart-database': 'database stopped and started',
  'crash-database': 'database crashed and started',
  'fill-disk': 'disk full',
  'lock-file': 'file locked by another process',
};
