import { alarmAfter, inWords, type StoreCheck } from './check.ts';
import type { TenantView } from './tenant-view.ts';

/** Moments of the future tell that this clock is behind, or that the one that they were written by is ahead. */
export const clockSkew: StoreCheck = {
  name: 'clock-skew',
  run: async (view, { clockSkew: levels }) => {
    const moments = await Promise.all(view.tenants.map(momentsOf));
    const newest = Math.max(view.lastRoundAt ?? 0, ...moments.flat());
    const aheadMs = newest - view.now;
    const severity = alarmAfter(aheadMs, levels);
    if (severity === null) return { findings: [] };
    const title = `Clocks of servers differ by at least ${inWords(aheadMs)}. Let NTP set them.`;
    return { findings: [{ subject: 'clock', severity, title, facts: { ahead_ms: aheadMs } }] };
  },
};

async function momentsOf(view: TenantView): Promise<number[]> {
  const [newest, workers] = await Promise.all([view.newestJob(), view.workers()]);
  return [newest?.createdAt ?? 0, ...workers.map(({ lastSeenAt }) => lastSeenAt)];
}
