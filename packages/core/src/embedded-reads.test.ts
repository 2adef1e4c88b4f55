import { expect, test } from 'vitest';
import { testEngine } from './testing/test-engine.ts';
import type { Waybill } from './waybill.ts';

/** Without a compiler a caller may give anything. */
type Loose = { [Group in keyof Waybill]: Record<string, (...given: unknown[]) => Promise<unknown>> };
const loose = (): Loose => testEngine().waybill as unknown as Loose;

test.each(['jobs', 'deadLetters', 'workflows'] as const)(
  'M2: %s.list takes 1 to 1,000 rows at a time, and 50 where it is not told',
  async (group) => {
    const waybill = loose();
    for (const limit of [0, -1, 1.5, 1_001, 1e9, Number.NaN, '5', null])
      await expect(waybill[group]['list']!({ limit })).rejects.toMatchObject({
        code: 'invalid_request',
        message: "'limit' must be an integer from 1 to 1000.",
      });
    for (const given of [[], [{}], [{ limit: 1 }], [{ limit: 1_000 }]])
      expect(await waybill[group]['list']!(...given)).toEqual({ items: [] });
  },
);

test('M2: a list without a limit is a page of 50, and a cursor leads to the next one', async () => {
  const { waybill } = testEngine();
  await waybill.jobs.enqueueMany(Array.from({ length: 51 }, () => ({ type: 'test.job', args: [] })));
  const { items, cursor } = await waybill.jobs.list();
  expect(items).toHaveLength(50);
  expect((await waybill.jobs.list({ cursor: cursor! })).items).toHaveLength(1);
  expect((await waybill.events.read()).events).toHaveLength(51);
  await expect(waybill.events.read({ limit: 0 })).rejects.toMatchObject({ details: { field: 'limit' } });
  await expect(waybill.jobs.list({ cursor: 5 as never })).rejects.toMatchObject({ details: { field: 'cursor' } });
});

test.each<[object, string, string]>([
  [{ states: ['waiting'] }, 'filter.states', "has no state 'waiting'. It takes"],
  [{ states: ['availabel'] }, 'filter.states', "Did you mean 'available'?"],
  [{ states: 'available' }, 'filter.states', 'must be a list, not string.'],
  [{ queues: 'default' }, 'filter.queues', 'must be a list, not string.'],
  [{ types: [5] }, 'filter.types[0]', 'must be text, not number.'],
  [{ workflowId: { id: 'x' } }, 'filter.workflowId', 'must be text, not an object.'],
  [{ createdAfter: new Date() }, 'filter.createdAfter', 'must be milliseconds since 1970.'],
  [{ dead: 'yes' }, 'filter.dead', 'must be true or false.'],
])('M2: the filter %j is refused by its field', async (filter, field, why) => {
  const { jobs, deadLetters } = loose();
  const refusal = { code: 'invalid_request', message: expect.stringContaining(why), details: { field } };
  await expect(jobs['list']!({ filter })).rejects.toMatchObject(refusal);
  await expect(deadLetters['list']!({ filter })).rejects.toMatchObject(refusal);
  await expect(deadLetters['stats']!(filter)).rejects.toMatchObject(refusal);
  await expect(deadLetters['replayMany']!(filter)).rejects.toMatchObject(refusal);
});

test('M2: states of workflows are refused by name', async () => {
  const refused = loose().workflows['list']!({ states: ['done'] });
  await expect(refused).rejects.toMatchObject({ code: 'invalid_request', details: { field: 'states' } });
});

test.each([{ id: 'x' }, undefined, null, 5])('M2: %j is no id', async (id) => {
  const { jobs, deadLetters, workflows } = loose();
  const calls = [
    ...['get', 'progress', 'cancel', 'activate', 'retry'].map((name) => jobs[name]!(id)),
    ...['get', 'replay', 'discard'].map((name) => deadLetters[name]!(id)),
    ...['get', 'nodes', 'cancel', 'resume'].map((name) => workflows[name]!(id)),
    jobs['settle']!({ id, outcome: { kind: 'completed', result: null } }),
    jobs['report']!({ id, fraction: 0.5 }),
  ];
  for (const call of await Promise.allSettled(calls))
    expect(call).toMatchObject({ reason: { code: 'invalid_request', details: { field: 'id' } } });
});

test('M2: a call without what it needs is refused by the name of that', async () => {
  const { jobs, queues, workflows } = loose();
  const field = (name: string) => ({ code: 'invalid_request', details: { field: name } });
  for (const call of [{}, { queues: 'default' }])
    await expect(jobs['claim']!(call)).rejects.toMatchObject(field('queues'));
  await expect(jobs['claim']!({ queues: [5] })).rejects.toMatchObject(field('queues[0]'));
  await expect(jobs['heartbeat']!({})).rejects.toMatchObject(field('worker_id'));
  await expect(jobs['heartbeat']!({ workerId: 'w' })).rejects.toMatchObject(field('active_jobs'));
  for (const name of ['pause', 'resume', 'stats']) await expect(queues[name]!()).rejects.toMatchObject(field('queue'));
  await expect(workflows['nodes']!('x', { limit: 0 })).rejects.toMatchObject(field('limit'));
});
