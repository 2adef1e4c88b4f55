import {
  type ExtendAnswer,
  type ExtendRequest,
  fenceAdmits,
  heartbeatEvent,
  type Job,
  type JobEvent,
  transition,
} from '@waybill/core';
import type { Base } from './base.ts';
import { all, type Condition, equals } from './conditions.ts';
import { inParallel } from './database.ts';
import { MOST_TRIES, tooContended } from './failures.ts';
import type { Item } from './items.ts';
import { jobKey } from './keys.ts';
import type { OpenSegments } from './log-writer.ts';
import { hasMark, unlessFenced } from './marks.ts';
import { readRows } from './read.ts';
import { trimLater } from './row-writes.ts';
import { codeOf, fromItem } from './rows.ts';

/** A row as it was read, and what a request makes of it. */
interface Extension {
  row: Item;
  job: Job;
  leaseUntil: number;
  nextAt: number;
}

interface ToldExtension extends Extension {
  event: JobEvent;
}

/** What is told shares its segments; where nothing is, an extension is one write. */
export async function extend(base: Base, requests: readonly ExtendRequest[]): Promise<ExtendAnswer[]> {
  const told = await inParallel(requests, (request) => toldBy(base, request));
  if (told.every((one) => one === null)) return inParallel(requests, (request) => extendOne(base, request));
  const segments = await base.log.open(told.map((one) => (one ? [one.event] : [])));
  const answers = await inParallel(requests, async (request, index): Promise<ExtendAnswer> => {
    const one = told[index] ?? null;
    if (one && (await writeTold(base, one, segments, segments.mark(index)))) {
      return { status: 'extended', leaseUntil: one.leaseUntil };
    }
    if (one) segments.lose(index);
    // Another heartbeat was faster, or the run is over: then the lease matters, and the log hears of the next one.
    return extendOne(base, request);
  });
  await segments.confirm();
  return answers;
}

async function toldBy(base: Base, request: ExtendRequest): Promise<ToldExtension | null> {
  if (!request.isTold) return null;
  const extension = await plan(base, request, false);
  const event = extension && heartbeatEvent(extension.job, extension.leaseUntil, request.now);
  return event ? { ...extension!, event } : null;
}

async function writeTold(base: Base, one: ToldExtension, segments: OpenSegments, mark: string): Promise<boolean> {
  const { leaseUntil, nextAt } = one;
  segments.assertFresh();
  const change = { set: { lu: leaseUntil, nx: nextAt }, append: { ev: [mark] } };
  const update = jobKey(one.job.tenant, one.job.id);
  const written = await base.db.write({ update, change, if: unlessFenced(mark, asRead(one)) });
  if (written.ok) trimLater(base, written.item);
  return written.ok || hasMark(written.old, mark);
}

/** The alarm stays where it is: it rings too early, and the sweep then moves it. */
async function extendOne(base: Base, request: ExtendRequest): Promise<ExtendAnswer> {
  const { tenant, id } = request;
  for (let round = 0; round < MOST_TRIES; round++) {
    // A late reader loses the compare-and-set, and then reads exactly.
    const isExact = round > 0;
    const extension = await plan(base, request, isExact);
    if (!extension) {
      if (isExact) return { status: 'lost' };
      continue;
    }
    const { job, leaseUntil, nextAt } = extension;
    if (leaseUntil === job.leaseUntil && isExact) return { status: 'extended', leaseUntil };
    const change = { set: { lu: leaseUntil, nx: nextAt } };
    const written = await base.db.write({ update: jobKey(tenant, id), change, if: asRead(extension) });
    if (written.ok) return { status: 'extended', leaseUntil };
  }
  throw tooContended(`The job ${id}`);
}

async function plan(base: Base, request: ExtendRequest, strong: boolean): Promise<Extension | null> {
  const { tenant, id, by, leaseMs, now } = request;
  const [row] = await readRows(base, [jobKey(tenant, id)], { strong });
  const job = row && fromItem({ sp: '{}', ...row });
  const change = job && fenceAdmits(job, by) ? transition(job, { do: 'extend', leaseMs }, now) : null;
  return row && job && change ? { row, job, leaseUntil: change.job.leaseUntil!, nextAt: change.job.nextAt! } : null;
}

const asRead = ({ job }: Extension): Condition =>
  all(
    ...[equals('st', codeOf('active')), equals('rn', job.run), equals('ck', job.claimId)],
    ...[equals('lu', job.leaseUntil), equals('nx', job.nextAt)],
  );
