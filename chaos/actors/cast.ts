export type Role = 'server' | 'worker' | 'producer';

/** A process of the run. It may be killed, and lives again under the same name. */
export interface Actor {
  name: string;
  role: Role;
  /** Where its one link leads: to the store, or to the server of this name. */
  upstream: 'store' | 'server-1' | 'server-2';
}

/** Every combination of role and way to the store, so that each of them meets every fault. */
export const CAST: readonly Actor[] = [
  { name: 'server-1', role: 'server', upstream: 'store' },
  { name: 'server-2', role: 'server', upstream: 'store' },
  { name: 'worker-1', role: 'worker', upstream: 'store' },
  { name: 'worker-2', role: 'worker', upstream: 'store' },
  { name: 'worker-3', role: 'worker', upstream: 'server-1' },
  { name: 'worker-4', role: 'worker', upstream: 'server-2' },
  { name: 'producer-1', role: 'producer', upstream: 'store' },
  { name: 'producer-2', role: 'producer', upstream: 'server-1' },
  { name: 'producer-3', role: 'producer', upstream: 'server-2' },
];
