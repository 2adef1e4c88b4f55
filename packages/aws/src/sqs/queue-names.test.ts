import { expect, test } from 'vitest';
import { queueName, tierOf } from './queue-names.ts';

test('a queue is named by prefix, job queue and tier', () => {
  expect(queueName('waybill-prod', { tenant: '', queue: 'mails' }, 'high')).toBe('waybill-prod-mails-high');
  expect([1, 0, -1].map(tierOf)).toEqual(['high', 'default', 'low']);
});

test('names that SQS does not take, or that could be mistaken for others, are told apart by a digest', () => {
  const names = [
    queueName('w', { tenant: '', queue: 'a.b' }, 'default'),
    queueName('w', { tenant: '', queue: 'a-b' }, 'default'),
    queueName('w', { tenant: 'a', queue: 'b' }, 'default'),
    queueName('w', { tenant: '', queue: 'x'.repeat(128) }, 'redrive'),
    queueName('w', { tenant: '', queue: `${'x'.repeat(127)}y` }, 'redrive'),
    queueName('w', { tenant: 'größe/1', queue: 'b' }, 'dead'),
  ];
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^w-[A-Za-z0-9_-]{1,78}$/);
});
