import type { Job } from '../job/job.ts';
import type { Logger } from '../logger.ts';
import type { Store } from '../store/store.ts';
import type { Transport } from './transport.ts';

/** How long an answer about a queue's depth is good: a backlog is swept in many small steps. */
const KNOWN_FOR_MS = 10_000;
const COUNT_AT_MOST = 10_000;
/** Rows read at once when a queue goes on. */
const PAGE = 500;

interface ReminderParts {
  store: Store;
  transport: Transport;
  logger: Logger;
  /** Sends hints of jobs that can be claimed. */
  hint(jobs: readonly Job[]): void;
}

/** Hints again at jobs that nobody has claimed in time, unless their hints still wait in the queue. */
export class Reminders {
  readonly #parts: ReminderParts;
  readonly #isCovered = new Map<string, { until: number; answer: Promise<boolean> }>();

  constructor(parts: ReminderParts) {
    this.#parts = parts;
  }

  async remind(jobs: readonly Job[]): Promise<void> {
    const byQueue = Map.groupBy(jobs, ({ tenant, queue }) => `${tenant}\n${queue}`);
    await Promise.all(
      [...byQueue.values()].map(async (of) => {
        const { tenant, queue } = of[0]!;
        if (!(await this.#covered(tenant, queue))) this.#parts.hint(of);
      }),
    );
  }

  /** Hints that came while the queue was paused were dropped, so all that wait are told of anew. */
  async resume(tenant: string, queue: string, signal: AbortSignal): Promise<void> {
    const { store, transport, hint, logger } = this.#parts;
    if (transport.capabilities.delivers === 'claimed') return;
    const filter = { tenant, queues: [queue], states: ['available'] } as const;
    let cursor: string | undefined;
    try {
      do {
        const page = await store.list({ filter, limit: PAGE, ...(cursor !== undefined && { cursor }) });
        hint(page.items);
        cursor = page.cursor;
      } while (cursor !== undefined && !signal.aborted);
    } catch (error) {
      if (!signal.aborted) logger.warn({ err: error, queue }, 'Some jobs of a resumed queue are hinted later.');
    }
  }

  #covered(tenant: string, queue: string): Promise<boolean> {
    const { clock } = this.#parts.store;
    const key = `${tenant}\n${queue}`;
    const known = this.#isCovered.get(key);
    if (known && known.until > clock.monotonic()) return known.answer;
    const answer = this.#ask(tenant, queue);
    this.#isCovered.set(key, { until: clock.monotonic() + KNOWN_FOR_MS, answer });
    return answer;
  }

  /** A queue as deep as its claimable rows has lost nothing: more hints would only make it deeper. */
  async #ask(tenant: string, queue: string): Promise<boolean> {
    const { store, transport, logger } = this.#parts;
    try {
      const stats = await store.queues.stats(tenant, queue, { atMost: COUNT_AT_MOST });
      if (stats?.paused) return true;
      if (!transport.depth || stats === null) return false;
      return (await transport.depth(tenant, queue)) >= stats.available;
    } catch (error) {
      logger.warn({ err: error, queue }, 'The depth of a queue is not known; its jobs are hinted again.');
      return false;
    }
  }
}
