import { isFinished } from '../job/job.ts';
import type { Store } from '../store/store.ts';
import type { Aside, AsideMessage } from '../transport/aside.ts';
import type { DeadMessages } from '../waybill.ts';

/** Taken at once, and by one call at most: they are held in memory, and hidden from others meanwhile. */
const SLICE = 100;
const MOST_TAKEN = 5_000;

/**
 * Messages that were put aside. Whatever is sent back is a hint, which the row decides about, or becomes a job once
 * however often it comes: so nothing here can run a job twice, and everything may be broken off.
 */
export function deadMessages(store: Store, aside: Aside): DeadMessages {
  async function placesOf({ tenant = '', queues }: { tenant?: string; queues?: readonly string[] }) {
    const known = async () => [...(await store.queues.list(tenant)).map(({ name }) => name), ...aside.queues];
    return [...new Set(queues ?? (await known()))].map((queue) => ({ tenant, queue }));
  }

  /** Each message once. Whatever `visit` answers false for is put back, but only at the end: else it would come again. */
  async function visitAll(
    query: Parameters<typeof placesOf>[0],
    visit: (message: AsideMessage) => Promise<boolean>,
    isEnough: () => boolean = () => false,
  ): Promise<void> {
    const kept: AsideMessage[] = [];
    let taken = 0;
    const visitPlace = async (place: { tenant: string; queue: string }): Promise<void> => {
      let isMore = true;
      while (isMore && taken < MOST_TAKEN && !isEnough()) {
        const slice = await aside.take(place, SLICE);
        isMore = slice.length === SLICE;
        taken += slice.length;
        const done = await Promise.allSettled(slice.map(visit));
        kept.push(...slice.filter((_, index) => !isTrue(done[index]!)));
        raise(done);
      }
    };
    try {
      // Side by side, since to find nothing takes a second for each.
      raise(await Promise.allSettled((await placesOf(query)).map(visitPlace)));
    } finally {
      // What is not put back comes back by itself, only later.
      await Promise.allSettled(kept.map((message) => aside.putBack(message)));
    }
  }

  /** A notice has served when its job lives again or is gone. */
  async function isServed({ tenant, jobId }: AsideMessage): Promise<boolean> {
    const [job] = jobId === null ? [] : await store.get([{ tenant, id: jobId }]);
    return job?.state !== 'discarded';
  }

  async function isUseless({ tenant, jobId }: AsideMessage): Promise<boolean> {
    const [job] = await store.get([{ tenant, id: jobId! }]);
    return !job || isFinished(job.state);
  }

  return {
    list: async ({ limit, ...query }) => {
      const found: AsideMessage[] = [];
      await visitAll(
        query,
        async (message) => {
          // Rows tell of dead jobs, and they are the truth.
          if (message.kind !== 'notice') found.push(message);
          return false;
        },
        () => found.length >= limit,
      );
      return found.slice(0, limit).map(({ receipt: _, message: __, ...told }) => told);
    },
    replay: async (query, { atMost = Number.POSITIVE_INFINITY } = {}) => {
      let begun = 0;
      const count = { replayed: 0, removed: 0 };
      await visitAll(query, async (message) => {
        if (message.kind === 'notice') {
          if (!(await isServed(message))) return false;
          await aside.remove(message);
          return true;
        }
        if (begun >= atMost) return false;
        begun += 1;
        if (message.kind === 'hint' && (await isUseless(message))) {
          await aside.remove(message);
          count.removed += 1;
        } else {
          await aside.sendBack(message);
          count.replayed += 1;
        }
        return true;
      });
      return count;
    },
  };
}

function raise(results: readonly PromiseSettledResult<unknown>[]): void {
  const failed = results.find((one) => one.status === 'rejected');
  if (failed) throw failed.reason;
}

const isTrue = (result: PromiseSettledResult<boolean>): boolean => result.status === 'fulfilled' && result.value;
