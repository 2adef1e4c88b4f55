import { jobNotFound, wrongState } from '../commit/row-change.ts';
import type { Writer } from '../commit/writer.ts';
import type { WaybillError } from '../errors.ts';
import type { Job } from '../job/job.ts';
import type { Command } from '../job/transition.ts';
import type { JobFilter } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import type { DeadLetters } from '../waybill.ts';

const SLICE = 500;
const COUNT_AT_MOST = 10_000;

/** Jobs that were given up and kept for repair. */
export function deadLetters(store: Store, writer: Writer): DeadLetters {
  const inSet = (filter: Partial<JobFilter> = {}): JobFilter => ({
    tenant: '',
    ...filter,
    states: ['discarded'],
    dead: true,
  });

  async function get(id: string, tenant = ''): Promise<Job> {
    const job = await writer.mustRead({ tenant, id });
    if (!job.dead) throw jobNotFound(id);
    return job;
  }

  /** Slice by slice, so that memory stays flat; each row is taken out of the set as it is done. */
  async function forAll(filter: Partial<JobFilter>, command: Command, atMost: number) {
    let done = 0;
    let cursor: string | undefined;
    while (done < atMost) {
      const limit = Math.min(SLICE, atMost - done);
      const page = await store.list({ filter: inSet(filter), limit, ...(cursor !== undefined && { cursor }) });
      const results = await Promise.all(
        page.items.map(({ tenant, id }) => attempt(writer.change({ tenant, id }, command, notDead))),
      );
      done += results.filter(Boolean).length;
      if (page.cursor === undefined) return { done, more: false };
      cursor = page.cursor;
    }
    return { done, more: true };
  }

  return {
    list: ({ filter, ...query }) => store.list({ ...query, filter: inSet(filter) }),
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
      const { done, more } = await forAll(filter, { do: 'replay' }, atMost);
      return { replayed: done, more };
    },
    discardMany: async (filter, { atMost = Number.POSITIVE_INFINITY } = {}) => {
      const { done, more } = await forAll(filter, { do: 'forget' }, atMost);
      return { discarded: done, more };
    },
    stats: async (filter) => {
      const total = await store.count(inSet(filter), { atMost: COUNT_AT_MOST });
      return { total, exact: total < COUNT_AT_MOST };
    },
  };
}

const notDead = (job: Job): WaybillError => wrongState(job, 'only a dead letter can be replayed or discarded');

/** Somebody else was faster with this one; the others go on. */
const attempt = (change: Promise<Job>): Promise<boolean> =>
  change.then(
    () => true,
    (error: WaybillError) => {
      if (error.code === 'conflict' || error.code === 'not_found') return false;
      throw error;
    },
  );
