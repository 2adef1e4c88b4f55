import type { Evidence } from '../evidence/evidence.ts';
import { acknowledged } from './acknowledged.ts';
import { cronTicks } from './cron-ticks.ts';
import { eventLog } from './event-log.ts';
import { exclusion } from './exclusion.ts';
import { fencing } from './fencing.ts';
import { type Check, type Finding, worldOf } from './finding.ts';
import { leases } from './leases.ts';
import { repetition } from './repetition.ts';
import { rescue } from './rescue.ts';
import { nobodyDied, noSurprises, nothingStuck } from './rest.ts';
import { workflows } from './workflows.ts';

/** One row of the table. */
export interface Audited {
  /** The number in ARCHITECTURE.md; absent where the list there does not have it. */
  guarantee?: number;
  about: string;
  /** Why it is not checked here, where it is not. */
  notHere?: string;
  finding?: Finding;
}

const NO_HINTS = 'stores are polled here, and nothing carries hints';

const ROWS: readonly (Omit<Audited, 'finding'> & { check?: Check })[] = [
  { guarantee: 1, about: 'nothing acknowledged is lost', check: acknowledged },
  { guarantee: 2, about: 'one live lease per job', check: leases },
  { guarantee: 3, about: 'a stale run settles nothing', check: fencing },
  { guarantee: 4, about: 'events gap-free, one end per job', check: eventLog },
  { guarantee: 5, about: 'hints change only latency', notHere: NO_HINTS },
  { guarantee: 6, about: 'messages outlive the settle', notHere: NO_HINTS },
  { guarantee: 7, about: 'unique keys and limits hold', check: exclusion },
  { guarantee: 8, about: 'workflow nodes once, after parents', check: workflows },
  { guarantee: 9, about: 'each cron tick once', check: cronTicks },
  { guarantee: 10, about: 'a repeated call has one effect', check: repetition },
  { guarantee: 11, about: 'killed: run again; SIGTERM: drained', check: rescue },
  { about: 'nothing is stuck at the end', check: nothingStuck },
  { about: 'no call meets an unexpected error', check: noSurprises },
  { about: 'no process dies by itself', check: nobodyDied },
];

/** Looks at every guarantee that can be seen from outside. */
export function audit(evidence: Evidence): Audited[] {
  const world = worldOf(evidence);
  return ROWS.map(({ check, ...row }) => (check ? { ...row, finding: check(world) } : row));
}

export const violationsIn = (rows: readonly Audited[]): number =>
  rows.reduce((sum, { finding }) => sum + (finding?.violations.length ?? 0), 0);
