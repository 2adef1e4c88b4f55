import {
  type AppendRequest,
  type ApplyAnswer,
  type Change,
  type InsertAnswer,
  type InsertGroup,
  isFinished,
  type Job,
  type JournalBatch,
  rankFor,
  readEach,
  takenAnswer,
  type UniqueClaim,
} from '@waybill/core';
import { encodeEvent } from '../event-codec.ts';
import type {
  AppendMessage,
  ApplyReply,
  BatchCells,
  ChangeMessage,
  EndMessage,
  GroupMessage,
  InsertReply,
  UniqueMessage,
} from './protocol.ts';
import { endCells, fromRow, mutableCells, type Row, toRow } from './rows.ts';

/** Rows and events are encoded on this side: the thread that has the disk to wait for shall do the least. */
export function groupMessage({ jobs, edges = [], workflow }: InsertGroup): GroupMessage {
  const message: GroupMessage = {
    rows: jobs.map(({ job }) => toRow(job)),
    events: jobs.flatMap(({ events }) => events.map(encodeEvent)),
    edges,
  };
  if (workflow) message.workflow = workflow;
  if (jobs.some(({ limit }) => limit)) message.rules = jobs.map(({ limit }) => limit ?? null);
  if (jobs.some(({ unique }) => unique))
    message.uniques = jobs.map(({ unique }) => (unique ? uniqueMessage(unique) : null));
  return message;
}

function uniqueMessage({ key, owner, replace }: UniqueClaim): UniqueMessage {
  return { key, owner, replace: replace ? changeMessage(replace) : null };
}

/** What was inserted is what was sent, so it need not travel back. */
export function insertAnswer(reply: InsertReply, { jobs }: InsertGroup): InsertAnswer {
  if (reply.status === 'closed' || reply.status === 'named') return reply;
  if (reply.status === 'taken') return takenAnswer(reply.keys.map(({ index, row }) => ({ index, job: fromRow(row) })))!;
  if (reply.status !== 'inserted') {
    const { status, index, row } = reply;
    return { status, index, job: fromRow(row) };
  }
  const stored = jobs.map(({ job }) => job);
  for (const index of reply.admitted) stored[index] = admitted(stored[index]!);
  return { status: 'inserted', jobs: stored, admitted: readAdmitted(reply.others) };
}

function admitted(job: Job): Job {
  const holder = { ...job, holdsSlot: true };
  return { ...holder, rank: rankFor(holder) };
}

/** How a change travels to the thread. */
export function applyMessage(change: Change): ChangeMessage | EndMessage {
  const { expect, job, events, ownsKey } = change;
  const isPlainEnd = expect.by === 'lease' && isFinished(job.state) && job.limitKey === null && !ownsKey;
  if (!isPlainEnd || events.length !== 1) return changeMessage(change);
  const fence = [job.tenant, job.id, job.queue, expect.run, expect.claimId] as const;
  return [...fence, encodeEvent(events[0]!), job.state, ...endCells(job)];
}

export function changeMessage({ expect, job, events, slot, limit, ownsKey }: Change): ChangeMessage {
  const message: ChangeMessage = {
    tenant: job.tenant,
    id: job.id,
    by: expect.by,
    fence:
      expect.by === 'lease' ? [expect.run, expect.claimId] : [expect.version, expect.nextAt, Number(expect.holdsSlot)],
    cells: mutableCells(job),
    events: events.map(encodeEvent),
    slot: slot ?? null,
    ...(limit && { limit }),
    limitKey: job.limitKey,
  };
  // A job without a key has none to lose.
  if (ownsKey && job.uniqueKey !== null) message.ownedKey = job.uniqueKey;
  return message;
}

export function applyAnswer(reply: ApplyReply): ApplyAnswer {
  if (reply === 'lost') return { status: 'lost' };
  if (typeof reply === 'string') return { status: 'applied', repeated: reply === 'repeated', admitted: [] };
  return { status: 'applied', repeated: false, admitted: readAdmitted(reply.admitted) };
}

/** One that cannot be read has its slot, and keeps no other from being told of. */
export const readAdmitted = (rows: readonly Row[]): Job[] => readEach(rows, fromRow, () => ({})).read;

export function appendMessage({ tenant, id, by, batch, weight, atMost, now }: AppendRequest): AppendMessage {
  const { first, last, firstAt, lastAt, types, body } = batch;
  return {
    ...{ tenant, id, by, types: JSON.stringify(types), body: alone(body) },
    cells: [first, last, firstAt, lastAt, now, weight, atMost ?? null],
  };
}

/** A view of a larger buffer would travel with all of it. */
const alone = (body: Uint8Array): Uint8Array =>
  body.byteLength === body.buffer.byteLength ? body : new Uint8Array(body);

export function batchOf(cells: BatchCells): JournalBatch {
  const [run, after, first, last, firstAt, lastAt, storedAt, types, body] = cells;
  return { run, after, first, last, firstAt, lastAt, storedAt, types: JSON.parse(types) as string[], body };
}
