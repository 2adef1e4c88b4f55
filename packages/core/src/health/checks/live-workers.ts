import { isLive } from '../../explain/worker-life.ts';
import type { QueueStats } from '../../store/queues.ts';
import type { WorkerInfo } from '../../store/workers.ts';
import { inWords, type TenantCheck } from './check.ts';

/**
 * Queues with jobs that no worker takes. A worker says that it lives and not which queues it serves, so where some are live
 * it is judged by what happens: jobs wait, and none of the queue is running.
 */
export const liveWorkers: TenantCheck = {
  name: 'live-workers',
  run: async (view, { liveWorkers: { noneMs, unservedMs } }) => {
    const { items, isCut } = await view.queues();
    const waitedMs = ({ oldestAt }: QueueStats) => view.now - oldestAt!;
    const unserved = items.filter((queue) => isUnserved(queue) && waitedMs(queue) > Math.min(noneMs, unservedMs));
    if (unserved.length === 0) return { findings: [], isCut };
    const workers = await view.workers();
    const live = workers.filter((worker) => isLive(worker, view.now)).length;
    const findings = unserved.flatMap((queue) => {
      const ms = waitedMs(queue);
      if (ms <= (live === 0 ? noneMs : unservedMs)) return [];
      const { name, available } = queue;
      const title =
        live === 0
          ? `Queue '${name}' has jobs, and no worker is live.`
          : `No worker has taken a job of queue '${name}' for ${inWords(ms)}, although workers are live.`;
      const last = workers.length === 0 ? null : new Date(Math.max(...workers.map(seenAt))).toISOString();
      const facts = { waited_ms: ms, available, live_workers: live, last_worker_seen_at: last };
      const severity = live === 0 ? ('critical' as const) : ('warning' as const);
      return [{ subject: `queue:${name}`, severity, title, queue: name, facts }];
    });
    return { findings, isCut };
  },
};

const seenAt = ({ lastSeenAt }: WorkerInfo): number => lastSeenAt;

const isUnserved = ({ paused, oldestAt, active }: QueueStats): boolean => !paused && oldestAt !== null && active === 0;
