import { expect, test } from 'vitest';
import { testEngine } from '../testing/test-engine.ts';
import type { Aside, AsideMessage } from '../transport/aside.ts';
import { deadMessages } from './dead-messages.ts';

const message = (id: string, more: Partial<AsideMessage> = {}): AsideMessage => ({
  ...{ id, tenant: '', queue: 'default', place: 'dead', kind: 'foreign', jobId: null, body: '{}', reason: null },
  ...{ sentAt: 0, receipt: id, message: null, ...more },
});

/** Messages in memory, hidden while they are taken; what happened to each is written down. */
function asideOf(messages: AsideMessage[], fails: (id: string) => boolean = () => false) {
  const told: string[] = [];
  const note = (what: string) => async (one: AsideMessage) => {
    if (fails(one.id) && what === 'sent back') throw new Error('the queue is away');
    told.push(`${one.id} ${what}`);
  };
  const aside: Aside = {
    queues: ['default'],
    take: async (_, most) => messages.splice(0, most),
    ...{ putBack: note('put back'), sendBack: note('sent back'), remove: note('removed') },
  };
  return { aside, told };
}

test('one that fails is put back, and so is what was not begun; the failure is told', async () => {
  const { store } = testEngine();
  const { aside, told } = asideOf([message('1'), message('2')], (id) => id === '1');
  await expect(deadMessages(store, aside).replay({})).rejects.toThrow('away');
  expect(told.sort()).toEqual(['1 put back', '2 sent back']);
});

test('a row decides what becomes of hints and notices', async () => {
  const { store, waybill, enqueue, claimOne } = testEngine();
  const ids = [await enqueue(), await enqueue({ retry: { max_attempts: 1 } })];
  const { token, job } = await claimOne();
  await waybill.jobs.settle({ id: job.id, leaseToken: token, outcome: { kind: 'completed', result: null } });
  const second = await claimOne();
  const error = { code: 'x', message: 'x' };
  await waybill.jobs.settle({ id: ids[1]!, leaseToken: second.token, outcome: { kind: 'failed', error } });
  const waiting = await enqueue();
  const { aside, told } = asideOf([
    message('finished', { kind: 'hint', jobId: ids[0]! }),
    message('waiting', { kind: 'hint', jobId: waiting }),
    message('unknown', { kind: 'hint', jobId: '0190b7a2-0000-7000-8000-000000000001' }),
    message('served', { kind: 'notice', jobId: ids[0]! }),
    message('dead', { kind: 'notice', jobId: ids[1]! }),
  ]);
  expect(await deadMessages(store, aside).replay({})).toEqual({ replayed: 1, removed: 2 });
  expect(told.sort()).toEqual([
    ...['dead put back', 'finished removed', 'served removed', 'unknown removed', 'waiting sent back'],
  ]);
});
