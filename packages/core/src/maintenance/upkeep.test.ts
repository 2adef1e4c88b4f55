import { describe, expect, test } from 'vitest';
import { settleChange } from '../testing/changes.ts';
import { memoryTransport } from '../testing/memory-transport.ts';
import { TestClock } from '../testing/test-clock.ts';
import { type TestEngine, testEngine } from '../testing/test-engine.ts';

const RETRY = { retry: { max_attempts: 3, initial_interval: 'PT5S', jitter: false } };
const ERROR = { code: 'max_retries', message: 'max retries exhausted, moved to DLQ' };
const CHAIN = {
  type: 'chain',
  steps: [
    { type: 'test.first', args: [] },
    { type: 'test.second', args: [] },
  ],
};

const withoutLoops = () => testEngine({ maintenance: false });

/** A node ends, and its worker dies before it does what follows. */
async function endAlone({ waybill, store, clock }: TestEngine, outcome = { kind: 'completed', result: 1 } as const) {
  const [lease] = await waybill.jobs.claim({ queues: ['default'] });
  await store.apply([settleChange(lease!.job, outcome, clock.now())]);
  return lease!.job;
}

const typesOf = async ({ waybill }: TestEngine, type: string) =>
  (await waybill.events.read({ limit: 1_000 })).events.filter((event) => event.type === type);

describe('a pass of the upkeep', () => {
  test('does what a sweep does, and says when the next row is due', async () => {
    const made = withoutLoops();
    const { waybill, clock, enqueue, claimOne } = made;
    const id = await enqueue(RETRY);
    const { token } = await claimOne();
    await waybill.jobs.settle({ id, leaseToken: token, outcome: { kind: 'failed', error: ERROR } });
    const dueAt = clock.now() + 5_000;
    expect(await waybill.upkeep.run()).toEqual({ sweeps: 1, failed: 0, nextAt: dueAt });
    await clock.advance(5_000);
    expect((await waybill.jobs.get(id)).state).toBe('retryable');
    await waybill.upkeep.run();
    expect((await waybill.jobs.get(id)).state).toBe('available');
  });

  test('goes on for as long as it is asked to, with what becomes due meanwhile', async () => {
    const { waybill, clock, enqueue } = withoutLoops();
    const id = await enqueue({ scheduled_at: new Date(clock.now() + 20_000).toISOString() });
    const ended = waybill.upkeep.run({ forMs: 30_000 });
    for (let second = 0; second < 31; second += 1) await clock.advance(1_000);
    expect((await ended).nextAt).toBeNull();
    expect((await waybill.jobs.get(id)).state).toBe('available');
  });

  test('ends with its signal, rescues what was lost, and fires crons', async () => {
    const made = withoutLoops();
    const { waybill, clock, enqueue, claimOne } = made;
    await waybill.crons.put({ name: 'tick', expression: '* * * * *', job_template: { type: 'test.cron', args: [] } });
    const id = await enqueue();
    await claimOne({ leaseMs: 10_000 });
    await clock.advance(61_000);
    expect(await waybill.upkeep.run()).toMatchObject({ failed: 1 });
    expect((await waybill.jobs.get(id)).state).toBe('available');
    expect(await typesOf(made, 'cron.triggered')).toHaveLength(1);
    expect(await waybill.upkeep.run({ signal: AbortSignal.abort() })).toMatchObject({ sweeps: 0 });
  });

  test('fails when the store does, so that the caller learns of it', async () => {
    const faults = [1, 2, 3].map((call) => ({ method: 'due', call, when: 'before' }) as const);
    const { waybill } = testEngine({ maintenance: false, faults });
    await expect(waybill.upkeep.run()).rejects.toThrow('due');
  });
});

test('what a pass cannot do is known to every process of the store', async () => {
  const faults = Array.from(
    { length: 20 },
    (_, at) => ({ method: 'workflows.meet', call: at + 1, when: 'before' }) as const,
  );
  const made = testEngine({ maintenance: false, faults });
  await made.waybill.workflows.create(CHAIN);
  const { id } = await endAlone(made);
  await made.waybill.upkeep.run();
  const other = testEngine({ maintenance: false, on: made.store, clock: made.clock });
  expect((await other.waybill.health()).maintenance).toMatchObject({ status: 'failing', items: [{ id }] });
});

describe('advance', () => {
  test('starts what waits for a node whose worker died after its end, once', async () => {
    const made = withoutLoops();
    const { waybill } = made;
    await waybill.workflows.create(CHAIN);
    const first = await endAlone(made);
    expect(await waybill.upkeep.advance(first.id)).toBe(true);
    expect(await waybill.upkeep.advance(first.id)).toBe(false);
    const second = await endAlone(made);
    expect(second.type).toBe('test.second');
    expect(await waybill.upkeep.advance(second.id)).toBe(true);
    expect(await typesOf(made, 'workflow.completed')).toHaveLength(1);
  });

  test('does nothing for a job that has not ended, and refuses one that is not there', async () => {
    const { waybill, enqueue } = withoutLoops();
    expect(await waybill.upkeep.advance(await enqueue())).toBe(false);
    const unknown = '01900000-0000-7000-8000-000000000000';
    await expect(waybill.upkeep.advance(unknown)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('fails where a server would leave it to its sweep', async () => {
    const made = testEngine({
      maintenance: false,
      faults: [{ method: 'workflows.meet', call: 1, when: 'before' }],
    });
    await made.waybill.workflows.create(CHAIN);
    const { id } = await endAlone(made);
    await expect(made.waybill.upkeep.advance(id)).rejects.toThrow('workflows.meet');
    expect(await made.waybill.upkeep.advance(id)).toBe(true);
  });
});

describe('giving up', () => {
  test('ends what waits as failed for good, with the reason, as often as it is asked', async () => {
    const made = withoutLoops();
    const { waybill, enqueue } = made;
    const id = await enqueue(RETRY);
    expect(await waybill.upkeep.giveUp(id, ERROR)).toMatchObject({ state: 'discarded', errors: [ERROR] });
    await expect(waybill.upkeep.giveUp(id, ERROR)).rejects.toMatchObject({ code: 'conflict' });
    const [event] = await typesOf(made, 'job.discarded');
    expect(event!.data).toMatchObject({ last_error: ERROR });
  });

  test('leaves alone what a worker holds, until its lease has ended', async () => {
    const { waybill, clock, enqueue, claimOne } = withoutLoops();
    const id = await enqueue(RETRY);
    await claimOne({ leaseMs: 10_000 });
    await expect(waybill.upkeep.giveUp(id, ERROR)).rejects.toMatchObject({ code: 'conflict' });
    await clock.advance(10_000);
    expect(await waybill.upkeep.giveUp(id, ERROR)).toMatchObject({ state: 'discarded' });
  });

  test('of a node ends what waited for it', async () => {
    const made = withoutLoops();
    const { id } = await made.waybill.workflows.create(CHAIN);
    const { items } = await made.waybill.workflows.nodes(id);
    await made.waybill.upkeep.giveUp(items.find(({ state }) => state === 'available')!.id, ERROR);
    expect(await made.waybill.workflows.get(id)).toMatchObject({ state: 'failed', failed: 1, cancelled: 1 });
  });
});

test('a hint is sent again for what can be claimed, and for nothing else', async () => {
  const clock = new TestClock();
  const inner = memoryTransport({ clock });
  const sent: string[] = [];
  const transport: typeof inner = {
    ...inner,
    send: (hints) => {
      sent.push(...hints.map(({ jobId }) => jobId));
      return inner.send(hints);
    },
  };
  const { waybill, enqueue, claimOne } = testEngine({ maintenance: false, clock, transport });
  const id = await enqueue();
  expect(await waybill.upkeep.hint(id)).toBe(true);
  await claimOne();
  expect(await waybill.upkeep.hint(id)).toBe(false);
  expect(sent).toEqual([id, id]);
});
