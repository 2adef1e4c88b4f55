import { type Job, transition } from '@waybill/core';
import type { Base } from './base.ts';
import { inParallel } from './database.ts';
import type { Item } from './items.ts';
import { LimitDraft } from './limit-draft.ts';
import { limitLine } from './locks.ts';
import { hasMark, withMarks } from './marks.ts';
import { toldOf } from './queue-book.ts';
import { type Gate, startUnder } from './queue-gate.ts';
import { readableJobs } from './read.ts';
import { claimUpdate, trimLater } from './row-writes.ts';
import { headOf } from './rows.ts';
import { startInTenant } from './tenant-gate.ts';
import type { Write } from './writes.ts';

export interface Lease {
  claimId: string;
  workerId: string;
  leaseMs: number;
  now: number;
}

/** A row that may be claimed, and the job that it becomes. */
interface Pick {
  row: Item;
  job: Job;
}

export interface Taken {
  /** The run that began, by the place of the row; null: somebody was faster, or it does not fit. */
  jobs: (Job | null)[];
  /** For rows that somebody else changed: what they are now. */
  now: (Item | undefined)[];
}

/** Transactions hold a hundred items; each limited job brings its limit. */
const MOST_TOGETHER = 40;

/** Begins a run of each of these rows, which were read a moment ago and stand in the queue of the gate. */
export async function takeRows(base: Base, rows: readonly Item[], gate: Gate, lease: Lease): Promise<Taken> {
  const whole = await readableJobs(base, rows);
  // What cannot be read leaves the line as if it were given to somebody, and is named when its lease ran out.
  const changes = whole.map((job, index) =>
    transition(job ?? headOf(rows[index]!), { do: 'claim', ...lease }, lease.now),
  );
  const taken: Taken = { jobs: rows.map(() => null), now: [...rows] };
  const segments = await base.log.open(changes.map((change) => toldOf(change?.events ?? [], gate.isForgetful)));
  const picks = changes.map((change, index) => (change ? { row: rows[index]!, job: change.job } : null));

  const places = picks.flatMap((pick, index) => (pick ? [index] : []));
  const isWhole = gate.limited !== null || gate.tenantLimited !== null;
  const isTogether = (index: number) => isWhole || picks[index]!.job.limitKey !== null;
  await inParallel(
    places.filter((index) => !isTogether(index)),
    async (index) => {
      const { row, job } = picks[index]!;
      const mark = segments.mark(index);
      segments.assertFresh();
      const written = await base.db.write(claimUpdate(base, row, job, mark));
      if (written.ok) trimLater(base, written.item);
      const isOurs = written.ok || hasMark(written.old, mark);
      if (isOurs) taken.jobs[index] = job;
      else if (!written.ok) taken.now[index] = written.old;
    },
  );
  const together = places.filter(isTogether).slice(0, MOST_TOGETHER);
  const marks = together.map((index) => segments.mark(index));
  if (together.length > 0) segments.assertFresh();
  if (
    await takeTogether(
      base,
      together.map((index) => picks[index]!),
      marks,
      gate,
      lease.now,
    )
  ) {
    for (const [place, index] of together.entries()) {
      const { row, job } = picks[index]!;
      taken.jobs[index] = job;
      trimLater(base, { ...row, ev: withMarks(row, [marks[place]!]) });
    }
  }
  for (const index of places) if (taken.jobs[index] === null) segments.lose(index);
  taken.jobs = taken.jobs.map((job, index) => (whole[index] ? job : null));
  await segments.confirm();
  return taken;
}

/** Runs that a limit counts begin with the count, or not at all. */
async function takeTogether(
  base: Base,
  picks: readonly Pick[],
  marks: readonly string[],
  gate: Gate,
  now: number,
): Promise<boolean> {
  if (picks.length === 0) return false;
  const limited = Map.groupBy(
    picks.filter(({ job }) => job.limitKey !== null),
    ({ job }) => job.limitKey!,
  );
  const { tenant } = picks[0]!.job;
  return base.locks.run(
    [...limited.keys()].map((key) => limitLine(tenant, key)),
    async () => {
      const writes: Write[] = picks.map(({ row, job }, index) => claimUpdate(base, row, job, marks[index]!));
      for (const [key, same] of limited) {
        const draft = await LimitDraft.read(base, tenant, key);
        draft.start(same.length, now);
        writes.push(...(await draft.finish(base, now)).writes);
      }
      const jobs = picks.map(({ job }) => job);
      if (gate.limited) writes.push(startUnder(gate.limited, jobs, now));
      if (gate.tenantLimited) writes.push(startInTenant(gate.tenantLimited, jobs));
      return base.db.transact(writes);
    },
  );
}
