import { expect, onTestFinished, test } from 'vitest';
import { engine } from '../engine.ts';
import { silentLogger } from '../logger.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import { faultyStore } from '../testing/faulty-store.ts';
import { TestClock } from '../testing/test-clock.ts';

/** Two servers, of which the first fails on one job, and a process that does no maintenance. */
async function open() {
  const clock = new TestClock();
  const store = memoryStore({ clock });
  const [own, other] = [faultyStore(store, []), faultyStore(store, [])];
  const shared = (some: typeof own) => ({ ...some, close: async () => {} });
  const apply = own.apply.bind(own);
  const sick = shared(own);
  const servers = [sick, shared(other)].map((on) => engine({ store: on, logger: silentLogger }));
  const looker = engine({ store: shared(faultyStore(store, [])), logger: silentLogger, maintenance: false });
  onTestFinished(async () => {
    for (const one of [...servers, looker]) await one.close();
  });
  await servers[1]!.close();
  const { job } = await servers[0]!.jobs.enqueue({ type: 'test.job', args: [], options: { scheduled_at: '+PT1S' } });
  sick.apply = async (changes) => {
    if (changes.some((change) => change.job.id === job.id)) throw new Error('This row violates a constraint.');
    return apply(changes);
  };
  const mend = () => {
    sick.apply = apply;
  };
  return { clock, store, server: servers[0]!, looker, id: job.id, mend };
}

// fault: a row that the store takes no change of
test('guarantee 12: what a server has put off is named by every process on its store, until it is mended', async () => {
  const { clock, looker, id, mend } = await open();
  expect(await looker.health()).not.toHaveProperty('maintenance');
  await clock.advance(30_000);
  expect(await looker.health()).toMatchObject({
    status: 'degraded',
    maintenance: { status: 'failing', failing: 1, items: [{ kind: 'job', id, failures: expect.any(Number) }] },
  });
  mend();
  await clock.advance(120_000);
  expect(await looker.health()).not.toHaveProperty('maintenance');
});

test('a server that has ended is not named any more', async () => {
  const { clock, server, looker } = await open();
  await clock.advance(30_000);
  expect((await looker.health()).maintenance).toMatchObject({ failing: 1 });
  await server.close();
  await clock.advance(10_000);
  expect(await looker.health()).not.toHaveProperty('maintenance');
});

// fault: the records of the store cannot be read
test('health does without what others have noted where the store does not tell', async () => {
  const clock = new TestClock();
  const store = memoryStore({ clock });
  const stuck = { ...store, records: { ...store.records, list: () => new Promise<never>(() => {}) } };
  const waybill = engine({ store: stuck, logger: silentLogger });
  onTestFinished(() => waybill.close());
  const asked = waybill.health();
  await clock.advance(2_000);
  expect(await asked).toMatchObject({ status: 'ok', maintenance: { status: 'ok', failing: 0 } });
});
