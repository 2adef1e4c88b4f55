import { alarmAfter, inWords, type StoreCheck } from './check.ts';

/** Rows that are due and that no sweep looks at: no server does maintenance, or it does not get on. */
export const sweepLag: StoreCheck = {
  name: 'sweep-lag',
  run: async (view, { sweepLag: levels }) => {
    const oldest = await view.oldestDue();
    const lagMs = oldest === null ? 0 : view.now - oldest.dueAt;
    const severity = alarmAfter(lagMs, levels);
    if (oldest === null || severity === null) return { findings: [] };
    const title = `Maintenance is ${inWords(lagMs)} behind: ${oldest.what} was due then.`;
    return { findings: [{ subject: 'sweep', severity, title, facts: { lag_ms: lagMs, oldest: oldest.what } }] };
  },
};
