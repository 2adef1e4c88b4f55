import { type DeadLetters, type Job, type JobFilter, WaybillError } from '@waybill/core';
import { type Command, command, misuse } from './command.ts';
import type { Context } from './context.ts';
import { countDead, DEAD_FILTERS, readDeadFilter } from './dead-filter.ts';
import { forEachId } from './each-id.ts';
import { INTERRUPTED } from './exit.ts';
import { ofDeadLetter } from './one-dead.ts';

/** As much as one call does, so that there is progress to show and a Ctrl-C is heard. */
const SLICE = 500;

interface Bulk {
  name: string;
  summary: string;
  verb: string;
  word: string;
  wireWord: string;
  one(deadLetters: DeadLetters, id: string): Promise<Job>;
  slice(deadLetters: DeadLetters, filter: Partial<JobFilter>, atMost: number): Promise<{ done: number; more: boolean }>;
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
    },
    run: async ({ args: ids, values }, context) => {
      const filter = readDeadFilter(values, context.io.now());
      const isFiltered = Object.keys(filter).length > 0;
      if (ids.length > 0 && (values.all || isFiltered)) throw misuse('Give ids, or --all with filters, not both.');
      if (ids.length === 0 && !values.all) {
        throw misuse(isFiltered ? 'Filters need --all, to be sure.' : 'Name the jobs, or say --all.');
      }
      const waybill = await context.connect();
      const { deadLetters } = waybill;
      if (values['dry-run']) return dryRun(deadLetters, ids, filter, bulk, context);
      const one = (id: string) => ofDeadLetter(waybill, id, () => bulk.one(deadLetters, id));
      if (ids.length > 0) return forEachId(ids, context, bulk.word, one);
      return doAll(deadLetters, filter, bulk, context, values.yes ?? false);
    },
  });

async function dryRun(
  deadLetters: DeadLetters,
  ids: readonly string[],
  filter: Partial<JobFilter>,
  { word }: Bulk,
  context: Context,
): Promise<number> {
  if (ids.length > 0) return forEachId(ids, context, `would be ${word}`, (id) => deadLetters.get(id));
  const matched = await countDead(deadLetters, filter, context.io.interrupted());
  context.show({ matched }, () => `${letters(matched)} would be ${word}\n`);
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
  if (matched > 0 && !isMeant) {
    const answer = await io.person?.ask(`${bulk.verb} ${letters(matched)}? [y/N] `);
    if (!/^y(es)?$/i.test(answer?.trim() ?? '')) {
      io.stderr.write('Nothing was done.\n');
      return 1;
    }
  }
  let done = 0;
  while (done < matched && !interrupted.aborted) {
    const round = await bulk.slice(deadLetters, filter, Math.min(SLICE, matched - done));
    done += round.done;
    io.person?.progress(`${done} of ${matched} ${bulk.word}`);
    // Others work on the same set: what is left is theirs.
    if (!round.more || round.done === 0) break;
  }
  io.person?.progress('');
  const isCut = interrupted.aborted && done < matched;
  context.show({ [bulk.wireWord]: done, has_more: isCut }, () => `${letters(done)} ${bulk.word}\n`);
  return isCut ? INTERRUPTED : 0;
}

const letters = (count: number): string => `${count} dead ${count === 1 ? 'letter' : 'letters'}`;
