import type { Job } from '@waybill/core';
import type { Base } from './base.ts';
import { absent, all, begins, type Condition, equals, exists } from './conditions.ts';
import { inParallel } from './database.ts';
import { keyOf } from './items.ts';
import { JOURNAL_PREFIX } from './journal-items.ts';
import { jobPk } from './keys.ts';
import type { Update } from './writes.ts';

// Where journals are kept for a time of their own, each batch carries its moment from the start, and the end of a job
// has nothing to do. Only where they are kept for as long as their jobs, the end of a job tells when that is.

/** After the end of a job whose row goes at `x`. */
export const expireJournal = (base: Base, job: Job, x: number): Promise<void> =>
  changeAll(base, job, absent('x'), { set: { x } });

/** Before a job comes back to life. */
export const keepJournal = (base: Base, job: Job): Promise<void> =>
  changeAll(base, job, exists('x'), { remove: ['x'] });

async function changeAll(base: Base, { tenant, id }: Job, filter: Condition, change: Update): Promise<void> {
  if (Number.isFinite(base.settings.retention.journalMs)) return;
  const where = all(equals('pk', jobPk(tenant, id)), begins('sk', JOURNAL_PREFIX));
  const batches = await base.db.queryAll({ where, filter, only: ['pk', 'sk'] });
  await inParallel(batches, (batch) => base.db.write({ update: keyOf(batch), change, if: exists() }));
}
