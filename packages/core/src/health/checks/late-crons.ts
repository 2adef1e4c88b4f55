import { alarmAfter, inWords, type TenantCheck } from './check.ts';

/** Schedules whose time has come, and that have not fired. */
export const lateCrons: TenantCheck = {
  name: 'late-crons',
  run: async (view, { lateCrons: levels }) => {
    const crons = await view.crons();
    const findings = crons.flatMap(({ name, enabled, nextAt }) => {
      if (!enabled || nextAt === null) return [];
      const lateMs = view.now - nextAt;
      const severity = alarmAfter(lateMs, levels);
      if (severity === null) return [];
      const title = `Cron '${name}' should have fired ${inWords(lateMs)} ago.`;
      const facts = { late_ms: lateMs, due_at: new Date(nextAt).toISOString() };
      return [{ subject: `cron:${name}`, severity, title, facts }];
    });
    return { findings };
  },
};
