import { type AppendAnswer, type AppendRequest, BEFORE_ALL, fenceAdmits } from '@waybill/core';
import type { Base } from './base.ts';
import { all, equals } from './conditions.ts';
import { inParallel } from './database.ts';
import { MOST_TRIES, pause, tooContended } from './failures.ts';
import type { JournalHeads, KnownRun } from './journal-heads.ts';
import { batchItem, formatHead, HEAD, headIn, type JournalHead, newNonce } from './journal-items.ts';
import { jobKey } from './keys.ts';
import { readRows } from './read.ts';
import { codeOf, headOf } from './rows.ts';

/**
 * One transaction for each batch: the batch is put, and the row of its job, which must be active in this run and carry the
 * head that was read, gets the new head. So no batch arrives after the end of its run, and no two follow the same one.
 * A check of the row without the head in it would cost as much.
 */
export async function appendJournal(
  base: Base,
  heads: JournalHeads,
  requests: readonly AppendRequest[],
): Promise<AppendAnswer[]> {
  const answers = new Array<AppendAnswer>(requests.length);
  const byJob = Map.groupBy(requests.keys(), (index) => lineOf(requests[index]!));
  await inParallel([...byJob], async ([line, own]) => {
    for (const index of own) {
      answers[index] = await base.locks.run([line], () => appendOne(base, heads, line, requests[index]!));
    }
  });
  return answers;
}

const lineOf = ({ tenant, id }: AppendRequest): string => `journal ${JSON.stringify([tenant, id])}`;

async function appendOne(base: Base, heads: JournalHeads, name: string, request: AppendRequest): Promise<AppendAnswer> {
  for (let round = 0; round < MOST_TRIES; round++) {
    const cached = heads.take(name);
    const run = cached ?? (await readRun(base, request));
    const { answer, head } = planAppend(run, request);
    if (!head) {
      // Only what was read just now is certain enough to refuse a batch.
      if (!cached) return answer;
      continue;
    }
    if (await write(base, run!, head, request)) {
      heads.put(name, { job: run!.job, head });
      return answer;
    }
    // The run has ended, or another process has written to the same journal.
    if (!cached) await pause(Math.min(round, 4));
  }
  throw tooContended(`The journal of the job ${request.id}`);
}

async function readRun(base: Base, { tenant, id }: AppendRequest): Promise<KnownRun | null> {
  const [row] = await readRows(base, [jobKey(tenant, id)]);
  return row ? { job: headOf(row), head: headIn(row) } : null;
}

interface Planned {
  answer: AppendAnswer;
  /** What the row is to carry; absent: nothing is written. */
  head?: JournalHead;
}

function planAppend(known: KnownRun | null, { by, batch, weight: added, atMost }: AppendRequest): Planned {
  if (!known || !fenceAdmits(known.job, by)) return { answer: { status: 'lost' } };
  const { run } = known.job;
  const last = lastOf(known);
  if (batch.first <= last) return { answer: { status: 'behind', run, head: last } };
  const before = known.head?.weight ?? 0;
  const weight = before + added;
  if (atMost !== undefined && weight > atMost) return { answer: { status: 'full', run, head: last, weight: before } };
  const nonce = known.head?.nonce ?? newNonce();
  return { answer: { status: 'stored', run, weight }, head: { nonce, run, last: batch.last, weight } };
}

const lastOf = ({ job, head }: KnownRun): number => (head?.run === job.run ? head.last : BEFORE_ALL);

/** False when the row is not what was read. */
function write(base: Base, known: KnownRun, head: JournalHead, request: AppendRequest): Promise<boolean> {
  const { tenant, id, run, claimId } = known.job;
  const isSameRun = all(equals('st', codeOf('active')), equals('rn', run), equals('ck', claimId));
  const isAsRead = equals(HEAD, known.head && formatHead(known.head));
  const put = batchItem(request, { run, after: lastOf(known), nonce: head.nonce }, base.settings);
  return base.db.transact([
    { update: jobKey(tenant, id), change: { set: { [HEAD]: formatHead(head) } }, if: all(isSameRun, isAsRead) },
    // Without a condition: what stands there can only be left of an expired job of the same id.
    { put },
  ]);
}
