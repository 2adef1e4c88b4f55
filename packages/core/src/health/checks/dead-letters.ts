import { alarmAt, type TenantCheck } from './check.ts';

/** Jobs that were given up and wait for repair. */
export const deadLettersCheck: TenantCheck = {
  name: 'dead-letters',
  run: async (view, { deadLetters }) => {
    const count = await view.deadLetters();
    const severity = alarmAt(count, deadLetters);
    if (severity === null) return { findings: [] };
    const title = count === 1 ? 'There is a dead letter.' : `There are ${count} dead letters.`;
    return { findings: [{ subject: 'dead-letters', severity, title, facts: { count } }] };
  },
};
