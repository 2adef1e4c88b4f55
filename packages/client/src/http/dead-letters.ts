import type { DeadLetters, Job, JobFilter } from '@waybill/core';
import { jobFromWire } from '../job-from-wire.ts';
import type { WireJob } from '../job-wire.ts';
import { skippedFromWire, type WireSkipped } from '../skipped-wire.ts';
import { path } from './address.ts';
import type { Calls, Named } from './calls.ts';
import { jobPage, momentOf } from './jobs.ts';
import { wholeJob } from './whole-job.ts';

const DEAD = '/ojs/v1/dead-letter';
/** The most that a server takes on in one call that says how many. */
const MOST_AT_ONCE = 1_000;

interface Bulk {
  done: number;
  has_more: boolean;
  skipped?: WireSkipped;
}

type Retried = Omit<Bulk, 'done'> & { retried: number };

export function deadLetters(calls: Calls): DeadLetters {
  const change = async (method: string, where: string, context: Named | undefined): Promise<Job> => {
    const tenant = calls.tenantOf(context);
    return jobFromWire((await calls.call<{ job: WireJob }>(method, where, { tenant })).job, calls.whose(tenant));
  };

  /** Without a bound in one call; with one in calls as large as a server takes. */
  async function inCalls(atMost: number | undefined, call: (limit: number | undefined) => Promise<Bulk>) {
    if (atMost === undefined || atMost === Number.POSITIVE_INFINITY) {
      const { done, has_more: more, skipped } = await call(undefined);
      return { done, more, ...(skipped && { skipped: skippedFromWire(skipped) }) };
    }
    let done = 0;
    let more = true;
    let skipped: WireSkipped | undefined;
    while (more && done < atMost) {
      const round = await call(Math.min(MOST_AT_ONCE, atMost - done));
      done += round.done;
      more = round.has_more;
      // Each call begins anew and meets the same ones again, so the last answer has them all.
      skipped = round.skipped;
      // Others are working on the same jobs: what is left is theirs.
      if (round.done === 0) break;
    }
    return { done, more, ...(skipped && { skipped: skippedFromWire(skipped) }) };
  }

  return {
    list: async ({ filter = {}, limit, cursor } = {}) => {
      const tenant = calls.tenantOf(filter);
      const query = { ...filterOf(filter), limit, cursor };
      return jobPage(calls, await calls.call('GET', DEAD, { tenant, query }), tenant);
    },
    get: async (id, context) => {
      const tenant = calls.tenantOf(context);
      const { job } = await calls.call<{ job: WireJob }>('GET', path`/ojs/v1/dead-letter/${id}`, { tenant });
      return wholeJob(calls, job, tenant);
    },
    replay: async (id, context) => change('POST', path`/ojs/v1/dead-letter/${id}/retry`, context),
    discard: async (id, context) => change('DELETE', path`/ojs/v1/dead-letter/${id}`, context),
    replayMany: async (filter, { atMost } = {}) => {
      const tenant = calls.tenantOf(filter);
      const { done: replayed, ...rest } = await inCalls(atMost, async (limit) => {
        const body = { confirm: true, filter: listed(filterOf(filter)), limit };
        const options = { tenant, body };
        const { retried, ...others } = await calls.call<Retried>('POST', `${DEAD}/retry`, options);
        return { done: retried, ...others };
      });
      return { replayed, ...rest };
    },
    discardMany: async (filter, { atMost } = {}) => {
      const tenant = calls.tenantOf(filter);
      const { done: discarded, more } = await inCalls(atMost, async (limit) => {
        const query = { ...filterOf(filter), confirm: true, limit };
        const answer = await calls.call<{ deleted: number; has_more: boolean }>('DELETE', DEAD, { tenant, query });
        return { done: answer.deleted, has_more: answer.has_more };
      });
      return { discarded, more };
    },
    stats: async (filter = {}) =>
      calls.call('GET', `${DEAD}/stats`, { tenant: calls.tenantOf(filter), query: filterOf(filter) }),
  };
}

/** `states` and `dead` say nothing here: the set is what it is. */
const filterOf = (filter: Partial<JobFilter>) => ({
  queue: filter.queues,
  type: filter.types,
  error_type: filter.errorType,
  workflow_id: filter.workflowId,
  since: momentOf(filter.finishedAfter),
  until: momentOf(filter.finishedBefore),
  created_after: momentOf(filter.createdAfter),
  created_before: momentOf(filter.createdBefore),
});

/** In a body as in an address: lists are separated by commas. */
const listed = ({ queue, type, ...filter }: ReturnType<typeof filterOf>) => ({
  ...filter,
  queue: queue?.join(','),
  type: type?.join(','),
});
