import { type ExtendAnswer, type ExtendRequest, speaksFor, transition } from '@waybill/core';
import type { Base } from './base.ts';
import { all, equals } from './conditions.ts';
import { inParallel } from './database.ts';
import { MOST_TRIES, tooContended } from './failures.ts';
import { jobKey } from './keys.ts';
import { readRows } from './read.ts';
import { codeOf, fromItem } from './rows.ts';

export const extend = (base: Base, requests: readonly ExtendRequest[]): Promise<ExtendAnswer[]> =>
  inParallel(requests, (request) => extendOne(base, request));

/** The alarm stays where it is: it rings too early, and the sweep then moves it. */
async function extendOne(base: Base, { tenant, id, by, leaseMs, now }: ExtendRequest): Promise<ExtendAnswer> {
  const key = jobKey(tenant, id);
  for (let round = 0; round < MOST_TRIES; round++) {
    // A late reader loses the compare-and-set, and then reads exactly.
    const isExact = round > 0;
    const [row] = await readRows(base, [key], { strong: isExact });
    const job = row && fromItem({ sp: '{}', ...row });
    const change = job && speaksFor(job, by) ? transition(job, { do: 'extend', leaseMs }, now) : null;
    if (!job || !change) {
      if (isExact) return { status: 'lost' };
      continue;
    }
    const leaseUntil = change.job.leaseUntil!;
    if (leaseUntil === job.leaseUntil && isExact) return { status: 'extended', leaseUntil };
    const isAsRead = [equals('st', codeOf('active')), equals('rn', job.run), equals('ck', job.claimId)];
    const written = await base.db.write({
      update: key,
      change: { set: { lu: leaseUntil, nx: change.job.nextAt! } },
      if: all(...isAsRead, equals('lu', job.leaseUntil), equals('nx', job.nextAt)),
    });
    if (written.ok) return { status: 'extended', leaseUntil };
  }
  throw tooContended(`The job ${id}`);
}
