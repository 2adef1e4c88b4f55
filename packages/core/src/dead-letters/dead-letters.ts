import { wrongState } from '../commit/row-change.ts';
import type { Writer } from '../commit/writer.ts';
import { WaybillError } from '../errors.ts';
import type { Job } from '../job/job.ts';
import type { Command } from '../job/transition.ts';
import { checkAtMost, checkedFilter, pageOf } from '../read-query.ts';
import type { JobFilter } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import type { DeadLetters, SkippedLetter } from '../waybill.ts';

const SLICE = 500;
const COUNT_AT_MOST = 10_000;
/** Skipped letters that are named; the others are counted. */
const MOST_NAMED = 100;

/** Jobs that were given up and kept for repair. */
export function deadLetters(store: Store, writer: Writer): DeadLetters {
  const inSet = (filter: Partial<JobFilter> = {}): JobFilter => ({
    ...checkedFilter(filter),
    states: ['discarded'],
    dead: true,
  });

  async function get(id: string, tenant = ''): Promise<Job> {
    const job = await writer.mustRead({ tenant, id });
    if (!job.dead) throw notInSet(job);
    return job;
  }

  /** Slice by slice, so that memory stays flat; each row is taken out of the set as it is done. */
  async function forAll(filter: Partial<JobFilter>, command: Command, atMost: number) {
    let done = 0;
    const skipped: { total: number; items: SkippedLetter[] } = { total: 0, items: [] };
    const answer = (more: boolean) => ({ done, more, ...(skipped.total > 0 && { skipped }) });
    let cursor: string | undefined;
    while (done < atMost) {
      const limit = Math.min(SLICE, atMost - done);
      const page = await store.list({ filter: inSet(filter), limit, ...(cursor !== undefined && { cursor }) });
      const results = await Promise.all(
        page.items.map(({ tenant, id }) => attempt(id, writer.change({ tenant, id }, command, notDead))),
      );
      for (const result of results) {
        if (result === 'done') done += 1;
        else if (result !== 'gone') {
          skipped.total += 1;
          if (skipped.items.length < MOST_NAMED) skipped.items.push(result);
        }
      }
      if (page.cursor === undefined) return answer(false);
      cursor = page.cursor;
    }
    return answer(true);
  }

  return {
    list: async ({ filter, ...query } = {}) => store.list({ ...pageOf(query), filter: inSet(filter) }),
    get: (id, { tenant } = {}) => get(id, tenant),
    replay: async (id, { tenant = '' } = {}) => {
      await get(id, tenant);
      return writer.change({ tenant, id }, { do: 'replay' }, notDead);
    },
    discard: async (id, { tenant = '' } = {}) => {
      await get(id, tenant);
      return writer.change({ tenant, id }, { do: 'forget' }, notDead);
    },
    replayMany: async (filter, { atMost = Number.POSITIVE_INFINITY } = {}) => {
      const { done, ...rest } = await forAll(filter, { do: 'replay' }, checkAtMost(atMost));
      return { replayed: done, ...rest };
    },
    discardMany: async (filter, { atMost = Number.POSITIVE_INFINITY } = {}) => {
      const { done, ...rest } = await forAll(filter, { do: 'forget' }, checkAtMost(atMost));
      return { discarded: done, ...rest };
    },
    stats: async (filter) => {
      const total = await store.count(inSet(filter), { atMost: COUNT_AT_MOST });
      return { total, exact: total < COUNT_AT_MOST };
    },
  };
}

const notInSet = ({ id, state }: Job): WaybillError =>
  new WaybillError('not_found', `Job ${id} is ${state}, and not a dead letter.`, {
    details: { job_id: id, state },
    ...(state === 'discarded' && {
      hint: "Only jobs with the retry policy 'on_exhaustion: dead_letter' are kept for repair.",
    }),
  });

const notDead = (job: Job): WaybillError => wrongState(job, 'only a dead letter can be replayed or discarded');

/** One that cannot be changed does not keep the others. `gone`: another caller was faster with it. */
const attempt = (id: string, change: Promise<Job>): Promise<'done' | 'gone' | SkippedLetter> =>
  change.then(
    () => 'done',
    (error: WaybillError) => {
      if (error.code === 'conflict' || error.code === 'not_found') return 'gone';
      if (error.code === 'duplicate') return { id, code: error.code, message: error.message };
      throw error;
    },
  );
