import {
  type ApplyAnswer,
  type Change,
  type EventType,
  type Job,
  type JobState,
  TERMINAL_EVENT_TYPES,
} from '@waybill/core';
import type { Base } from './base.ts';
import { equals } from './conditions.ts';
import { inParallel } from './database.ts';
import { MOST_TRIES, pause, tooContended } from './failures.ts';
import { type Item, text } from './items.ts';
import { jobKey, queueKey, uniqueKey } from './keys.ts';
import { LimitDraft, withSlot } from './limit-draft.ts';
import { admitMore, type LimitName } from './limits.ts';
import { limitLine } from './locks.ts';
import { type OpenSegments, tooLate } from './log-writer.ts';
import { hasMark, isFenced, withMarks } from './marks.ts';
import { toldOf } from './queue-book.ts';
import { readRows, wholeJobs } from './read.ts';
import { expireCompanions, fits, keepCompanions, rowUpdate, trimLater, writeSides } from './row-writes.ts';
import { fromItem, stateOf } from './rows.ts';
import type { Write } from './writes.ts';

const LOST: ApplyAnswer = { status: 'lost' };
const REPEATED: ApplyAnswer = { status: 'applied', repeated: true, admitted: [] };

export async function apply(base: Base, changes: readonly Change[]): Promise<ApplyAnswer[]> {
  if (changes.length === 0) return [];
  const forgetful = await base.queues.forgetful(changes.map(({ job }) => job));
  const segments = await base.log.open(changes.map(({ job, events }) => toldOf(events, forgetful(job))));
  // Changes of one row stand in line in the order given.
  const answers = await inParallel(changes, (change, index) =>
    base.locks.run(linesOf(change), () =>
      applyOne(base, change, segments, segments.mark(index), forgetful(change.job)),
    ),
  );
  for (const [index, answer] of answers.entries()) if (!isNew(answer)) segments.lose(index);
  const written = changes.filter((_, index) => isNew(answers[index]!));
  await Promise.all([
    segments.confirm(),
    countEnds(base, written),
    ...written.map(({ job }) => expireCompanions(base, job, forgetful(job))),
  ]);
  tell(base, written, answers);
  return answers;
}

const isNew = (answer: ApplyAnswer): boolean => answer.status === 'applied' && !answer.repeated;

/** The lines of this process that a change stands in. */
export function linesOf({ job, ownsKey }: Change): string[] {
  const lines = [`job ${job.tenant} ${job.id}`];
  if (job.limitKey !== null) lines.push(limitLine(job.tenant, job.limitKey));
  if (ownsKey && job.uniqueKey !== null) lines.push(`unique ${job.tenant} ${job.uniqueKey}`);
  return lines;
}

async function applyOne(
  base: Base,
  change: Change,
  segments: OpenSegments,
  mark: string,
  isForgetful: boolean,
): Promise<ApplyAnswer> {
  if (revives(change)) await keepCompanions(base, change.job);
  if (change.job.limitKey !== null || change.ownsKey) return applyTogether(base, change, segments, mark, isForgetful);
  const { sides, update } = rowUpdate(base, change.job, mark, fits(change.expect), isForgetful);
  await writeSides(base, sides);
  segments.assertFresh();
  const written = await base.db.write(update);
  if (written.ok) {
    trimLater(base, written.item);
    return { status: 'applied', repeated: false, admitted: [] };
  }
  if (isFenced(written.old, mark)) throw tooLate();
  return judge(change, written.old, mark);
}

/** A row that is not what the change expects. */
function judge({ expect, job }: Change, old: Item | undefined, mark: string): ApplyAnswer {
  if (!old || 'bid' in old) return LOST;
  // Our own write, whose answer was lost.
  if (hasMark(old, mark)) return { status: 'applied', repeated: false, admitted: [] };
  if (expect.by === 'version') return LOST;
  const isSameRun = old['rn'] === expect.run && old['ck'] === expect.claimId && stateOf(old) !== 'active';
  return isSameRun && text(old, 'oc') === job.outcome ? REPEATED : LOST;
}

/** A change that the row's limit or its unique key has a say in: decided by what is read, refused if that has changed. */
async function applyTogether(
  base: Base,
  change: Change,
  segments: OpenSegments,
  mark: string,
  isForgetful: boolean,
): Promise<ApplyAnswer> {
  const { tenant, id, uniqueKey: unique } = change.job;
  for (let round = 0; round < MOST_TRIES; round++) {
    const [row] = await readRows(base, [jobKey(tenant, id)]);
    const verdict = row && fitsNow(row, change) ? null : judge(change, row, mark);
    if (verdict) return verdict;
    const writes: Write[] = [];
    if (change.ownsKey && unique !== null) {
      const key = uniqueKey(tenant, unique);
      if ((await base.db.get(key))?.['j'] !== id) return LOST;
      writes.push({ check: key, if: equals('j', id) });
    }
    const planned = await planChange(base, row!, change, mark, isForgetful);
    segments.assertFresh();
    if (await base.db.transact([...planned.writes, ...writes])) {
      trimLater(base, { ...row!, ev: withMarks(row, [mark]) });
      const others = [...planned.admitted, ...(await admitMore(base, planned.more))];
      const admitted = [...(planned.own ? [planned.own] : []), ...(await wholeJobs(base, others))];
      return { status: 'applied', repeated: false, admitted };
    }
    await segments.assertUnsettled();
    await pause(Math.min(round, 4));
  }
  throw tooContended(`The job ${id} or its limit`);
}

export function fitsNow(row: Item, { expect }: Change): boolean {
  const job = fromItem({ sp: '{}', ...row });
  if (expect.by === 'lease') {
    return job.state === 'active' && job.run === expect.run && job.claimId === expect.claimId;
  }
  return job.version === expect.version && job.nextAt === expect.nextAt && job.holdsSlot === expect.holdsSlot;
}

interface Planned {
  writes: Write[];
  /** The changed row itself, when it gets a slot. */
  own: Job | null;
  /** Rows of others that get one. */
  admitted: Item[];
  /** The limit, when it may have more to give. */
  more: LimitName | null;
}

/** The writes of a change of a limited row, and of its limit where that has to do with it. */
async function planChange(base: Base, row: Item, change: Change, mark: string, isForgetful: boolean): Promise<Planned> {
  const { job, slot } = change;
  const now = base.settings.clock.now();
  const before = fromItem({ sp: '{}', ...row });
  const planned: Planned = { writes: [], own: null, admitted: [], more: null };
  if (job.limitKey !== null) {
    const draft = await LimitDraft.read(base, job.tenant, job.limitKey);
    if (change.limit) draft.bringBack(change.limit);
    draft.move(before, job);
    if (slot) draft.admit();
    const drafted = await draft.finish(base, now);
    if (drafted.entered.has(job.id)) planned.own = withSlot(job);
    planned.admitted = drafted.admitted;
    planned.writes.push(...drafted.writes);
    if (drafted.isMore) planned.more = { tenant: job.tenant, key: job.limitKey };
  }
  const { sides, update } = rowUpdate(base, planned.own ?? job, mark, fits(change.expect), isForgetful);
  await writeSides(base, sides);
  planned.writes.unshift(update);
  return planned;
}

const REVIVING: ReadonlySet<EventType> = new Set(['job.replayed', 'job.pending']);

const revives = ({ events, expect }: Change): boolean =>
  expect.by === 'version' && events.some(({ type }) => REVIVING.has(type));

const ENDS: Partial<Record<JobState, string>> = { completed: 'tc', cancelled: 'tk', discarded: 'td' };

/** Totals of queues: one count per call and queue, however many jobs have ended. */
export async function countEnds(base: Base, changes: readonly Pick<Change, 'job' | 'events'>[]): Promise<void> {
  const ended = changes.filter(({ events }) => events.some(({ type }) => TERMINAL_EVENT_TYPES.has(type)));
  // An end is a use of the queue, and makes a queue known again that was removed.
  await base.queues.note(ended.map(({ job }) => job));
  const byQueue = Map.groupBy(ended, ({ job }) => JSON.stringify([job.tenant, job.queue]));
  await inParallel([...byQueue.values()], async (same) => {
    const { tenant, queue } = same[0]!.job;
    const add: Record<string, number> = {};
    for (const { job } of same) {
      const name = ENDS[job.state]!;
      add[name] = (add[name] ?? 0) + 1;
    }
    await base.db.count(queueKey(tenant, queue), add);
  });
}

function tell(base: Base, written: readonly Change[], answers: readonly ApplyAnswer[]): void {
  base.wakes.jobs(written.map(({ job }) => job));
  base.wakes.jobs(answers.flatMap((answer) => (answer.status === 'applied' ? answer.admitted : [])));
  const room = written.filter(({ job, expect }) => expect.by === 'lease' || job.state !== 'active');
  if (room.some(({ job }) => base.queues.isTenantLimited(job.tenant))) base.wakes.all();
  base.wakes.queue(
    ...new Set(
      room
        .map(({ job }) => job)
        .filter((job) => base.queues.isLimited(job.tenant, job.queue))
        .map((job) => job.queue),
    ),
  );
}
