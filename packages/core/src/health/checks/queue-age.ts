import { alarmAfter, inWords, type TenantCheck } from './check.ts';

/** Jobs that wait for too long. A paused queue keeps them waiting on purpose. */
export const queueAge: TenantCheck = {
  name: 'queue-age',
  run: async (view, { queueAge: levels, queues }) => {
    const { items, isCut } = await view.queues();
    const findings = items.flatMap(({ name, paused, oldestAt, available }) => {
      if (paused || oldestAt === null) return [];
      const ageMs = view.now - oldestAt;
      const severity = alarmAfter(ageMs, { ...levels, ...queues.get(name) });
      if (severity === null) return [];
      const title = `The next job of queue '${name}' has waited for ${inWords(ageMs)}.`;
      return [{ subject: `queue:${name}`, severity, title, queue: name, facts: { age_ms: ageMs, available } }];
    });
    return { findings, isCut };
  },
};
