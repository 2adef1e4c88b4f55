import { expect, test } from 'vitest';
import { incidentFact, incidentIdOf } from './incident.ts';

test('an incident has an id that a path can hold, and the same for the same subject', () => {
  const idOf = (subject: string) => incidentIdOf({ check: 'sink-lag', subject });
  expect(idOf('sink:mail')).toBe('sink-lag:sink:mail');
  for (const subject of ['sink:früh / spät', `sink:${'s'.repeat(250)}`]) {
    expect(idOf(subject)).toMatch(/^sink-lag:[0-9a-f]{64}$/);
    expect(idOf(subject)).toBe(idOf(subject));
  }
  expect(idOf('sink:a b')).not.toBe(idOf('sink:a  b'));
});

const open = { title: 'Late', severity: 'warning', status: 'open' };
const closed = { ...open, status: 'closed' };
const found = { check: 'queue-age' };

test.each([
  ['a new one', null, open, 'incident.opened'],
  ['worse', open, { ...open, severity: 'critical' }, 'incident.escalated'],
  ['milder', { ...open, severity: 'high' }, open, 'incident.changed'],
  ['another title', open, { ...open, title: 'Later' }, 'incident.changed'],
  ['over', open, closed, 'incident.closed'],
  ['over, and worse than it was', open, { ...closed, severity: 'critical' }, 'incident.closed'],
  ['removed while it was open', open, null, 'incident.closed'],
  ['a person has made a mistake in closing it', closed, open, 'incident.changed'],
  ['found again by its check', { ...closed, ...found }, { ...open, ...found }, 'incident.opened'],
] as const)('the log is told of %s', (_, before, after, type) => {
  expect(incidentFact(before, after)).toMatchObject({ type });
});
