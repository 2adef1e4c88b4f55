import { skippedToWire } from '@waybill/client';
import {
  type DeadLetters,
  type Job,
  type JobFilter,
  type SkippedLetter,
  type Waybill,
  WaybillError,
} from '@waybill/core';
import { type Command, command, misuse } from './command.ts';
import type { Context } from './context.ts';
import { countDead, DEAD_FILTERS, readDeadFilter } from './dead-filter.ts';
import { MOST_MESSAGES, queuesOnly, replayMessages } from './dead-messages.ts';
import { forEachId } from './each-id.ts';
import { INTERRUPTED } from './exit.ts';
import { tellFailedWorkflows } from './failed-workflows.ts';
import { ofDeadLetter } from './one-dead.ts';
import { TRANSPORT } from './serve-options.ts';

/** As much as one call does, so that there is progress to show and a Ctrl-C is heard. */
const SLICE = 500;

interface Bulk {
  name: string;
  summary: string;
  verb: string;
  word: string;
  wireWord: string;
  /** Whether messages that were put aside are part of it. */
  withMessages?: boolean;
  /** Whether the jobs run again. */
  revives?: boolean;
  notes?: string;
  one(deadLetters: DeadLetters, id: string): Promise<Job>;
  slice(deadLetters: DeadLetters, filter: Partial<JobFilter>, atMost: number): Promise<Round>;
}

interface Round {
  done: number;
  more: boolean;
  skipped?: { total: number; items: readonly SkippedLetter[] };
}

/** What replaying and discarding have in common: some by id, or all that match. */
export const bulkDead = (bulk: Bulk): Command =>
  command({
    name: bulk.name,
    section: 'Jobs',
    summary: bulk.summary,
    args: '[ID…]',
    options: {
      all: { about: 'all that the filters match, instead of ids' },
      ...DEAD_FILTERS,
      'dry-run': { about: 'only say how many there are' },
      yes: { about: 'do not ask; needed for --all where nobody can be asked' },
      transport: TRANSPORT,
    },
    notes: bulk.notes ?? '',
    run: async ({ args: ids, values }, context) => {
      const filter = readDeadFilter(values, context.io.now());
      const isFiltered = Object.keys(filter).length > 0;
      if (ids.length > 0 && (values.all || isFiltered)) throw misuse('Give ids, or --all with filters, not both.');
      if (ids.length === 0 && !values.all) {
        throw misuse(isFiltered ? 'Filters need --all, to be sure.' : 'Name the jobs, or say --all.');
      }
      const { transport } = values;
      const waybill = await context.connect(transport === undefined ? {} : { transport });
      const { deadLetters } = waybill;
      if (values['dry-run']) return dryRun(waybill, ids, filter, bulk, context);
      const done: Job[] = [];
      const one = async (id: string) => {
        const job = await ofDeadLetter(waybill, id, () => bulk.one(deadLetters, id));
        done.push(job);
        return job;
      };
      if (ids.length === 0) return doAll(deadLetters, filter, bulk, context, values.yes ?? false);
      const exitCode = await forEachId(waybill, ids, context, bulk.word, one);
      // The notices of their deaths have served.
      const queues = [...new Set(done.map(({ queue }) => queue))];
      if (bulk.withMessages) await deadLetters.messages?.replay({ queues }, { atMost: 0 });
      if (bulk.revives) await tellFailedWorkflows(waybill, done, context);
      return exitCode;
    },
  });

async function dryRun(
  waybill: Waybill,
  ids: readonly string[],
  filter: Partial<JobFilter>,
  bulk: Bulk,
  context: Context,
): Promise<number> {
  const { word } = bulk;
  const { deadLetters } = waybill;
  if (ids.length > 0) return forEachId(waybill, ids, context, `would be ${word}`, (id) => deadLetters.get(id));
  const matched = await countDead(deadLetters, filter, context.io.interrupted());
  const found = await countMessages(deadLetters, filter, bulk);
  const document = { matched, ...(found !== undefined && { messages: found }) };
  context.show(document, () => `${letters(matched)}${andMessages(found)} would be ${word}\n`);
  return 0;
}

/**
 * The count bounds the work: replayed jobs may fail at once and be dead letters again, and without a bound they would
 * be replayed for ever.
 */
async function doAll(
  deadLetters: DeadLetters,
  filter: Partial<JobFilter>,
  bulk: Bulk,
  context: Context,
  isMeant: boolean,
): Promise<number> {
  const { io } = context;
  if (!isMeant && io.person === undefined) {
    throw new WaybillError('invalid_request', `${bulk.verb} all that match? Nobody is there to be asked.`, {
      hint: 'Look with --dry-run first, then say --yes.',
    });
  }
  const interrupted = io.interrupted();
  const matched = await countDead(deadLetters, filter, interrupted);
  const found = await countMessages(deadLetters, filter, bulk);
  if (matched + (found ?? 0) > 0 && !isMeant) {
    const answer = await io.person?.ask(`${bulk.verb} ${letters(matched)}${andMessages(found)}? [y/N] `);
    if (!/^y(es)?$/i.test(answer?.trim() ?? '')) {
      io.stderr.write('Nothing was done.\n');
      return 1;
    }
  }
  let done = 0;
  let skipped: Round['skipped'];
  while (done < matched && !interrupted.aborted) {
    const round = await bulk.slice(deadLetters, filter, Math.min(SLICE, matched - done));
    done += round.done;
    // Each round meets the same ones again.
    skipped = round.skipped;
    io.person?.progress(`${done} of ${matched} ${bulk.word}`);
    // Others work on the same set: what is left is theirs.
    if (!round.more || round.done === 0) break;
  }
  io.person?.progress('');
  const { messages } = deadLetters;
  const sent = bulk.withMessages && messages ? await replayMessages(messages, filter, found ?? 0, interrupted) : 0;
  const isCut = interrupted.aborted && done + sent < matched + (found ?? 0);
  for (const { message } of skipped?.items ?? []) io.stderr.write(`waybill: ${message}\n`);
  const document = {
    [bulk.wireWord]: done,
    has_more: isCut,
    ...(skipped && { skipped: skippedToWire(skipped) }),
    ...(found !== undefined && { messages: sent }),
  };
  context.show(document, () => `${letters(done)}${andMessages(sent)} ${bulk.word}\n`);
  return isCut ? INTERRUPTED : 0;
}

const letters = (count: number): string => `${count} dead ${count === 1 ? 'letter' : 'letters'}`;

/** Undefined where there can be none: another transport, or filters that only rows have. */
async function countMessages(
  { messages }: DeadLetters,
  filter: Partial<JobFilter>,
  { withMessages = false }: Bulk,
): Promise<number | undefined> {
  const queues = queuesOnly(filter);
  if (!withMessages || messages === undefined || queues === null) return undefined;
  return (await messages.list({ ...queues, limit: MOST_MESSAGES })).length;
}

const andMessages = (count = 0): string => (count === 0 ? '' : ` and ${count} ${count === 1 ? 'message' : 'messages'}`);
