import { describe, expect, it } from 'vitest';
import type { CronRecord, FireRequest } from '../../store/crons.ts';
import { aCron } from '../factories.ts';
import { type Bench, idsOf, type OpenBench } from './bench.ts';

const MINUTE_MS = 60_000;
const LOST = { status: 'lost' };
const SWITCHED = { type: 'cron.disabled', data: {} } as const;

/** What the engine asks for when it has read a due cron. */
function firing(bench: Bench, { tenant, name, version, nextAt }: CronRecord, more: Partial<FireRequest> = {}) {
  const tick = nextAt!;
  const job = bench.make({ tenant });
  return { tenant, name, expected: { version, nextAt: tick }, nextAt: tick + MINUTE_MS, tick, job, ...more };
}

const dueNames = async (bench: Bench, now = bench.now): Promise<string[]> =>
  (await bench.store.due({ now, limit: 100 })).crons.map((cron) => cron.name);

export function testCrons(open: OpenBench): void {
  describe('crons', () => {
    it('are kept whole, read by name and listed by name', async () => {
      const bench = await open();
      const { crons } = bench.store;
      expect(await crons.get('', 'b')).toBeNull();
      const b = aCron({
        name: 'b',
        expression: '*/5 * * * *',
        timezone: 'Europe/Berlin',
        overlap: 'cancel_previous',
        misfire: 'catch_up',
        catchUpLimit: 3,
        description: 'every five minutes',
        template: { type: 'x', args: [{ b: 1, a: [null] }], options: { queue: 'q' } },
      });
      const a = aCron({ name: 'a', enabled: false, nextAt: null });
      expect(await crons.put(b)).toEqual(b);
      expect(await crons.put(a)).toEqual(a);
      expect(await crons.get('', 'b')).toEqual(b);
      expect(await crons.list('')).toEqual([a, b]);
    });

    it('replaced, one keeps its creation time and its counts, and its version grows', async () => {
      const bench = await open();
      const { crons } = bench.store;
      const first = await crons.put(aCron());
      const request = firing(bench, first);
      await crons.fire(request);
      await bench.clock.advance(1000);
      const next = aCron({ expression: '0 * * * *', createdAt: bench.now, nextAt: bench.now + 5000, version: 2 });
      const replaced = await crons.put(next);
      expect(replaced).toMatchObject({ expression: '0 * * * *', nextAt: next.nextAt, createdAt: first.createdAt });
      expect(replaced).toMatchObject({ runs: 1, lastJobId: request.job.job.id, lastAt: request.tick });
      expect(await crons.get('', first.name)).toEqual(replaced);
      // Two people at once: neither version is handed out twice.
      expect((await crons.put(next)).version).toBeGreaterThan(replaced.version);
    });

    // fault: somebody else has changed, fired or removed the cron since it was read
    it('enable: switches a cron on and off while it is as it was read, and leaves the rest alone', async () => {
      const bench = await open();
      const { crons } = bench.store;
      const cron = await crons.put(aCron());
      const { tenant, name } = cron;
      const told = { ...SWITCHED, tenant, subject: name, at: bench.now };
      const off = (expected: number) => crons.enable({ tenant, name, expected, enabled: false, nextAt: null }, told);
      const request = firing(bench, cron);
      await crons.fire(request);
      const paused = await off(cron.version);
      expect(paused).toMatchObject({ enabled: false, nextAt: null, version: cron.version + 1, runs: 1 });
      expect(paused).toMatchObject({ lastJobId: request.job.job.id, lastAt: request.tick, createdAt: cron.createdAt });
      expect(await crons.get(tenant, name)).toEqual(paused);
      expect(await dueNames(bench, bench.now + MINUTE_MS)).toEqual([]);
      const changed = await crons.put(aCron({ expression: '0 * * * *', version: paused!.version + 1 }));
      expect(await off(paused!.version)).toBeNull();
      expect(await crons.get(tenant, name)).toEqual(changed);
      await crons.remove(tenant, name);
      expect(await off(changed.version)).toBeNull();
      expect(await crons.get(tenant, name)).toBeNull();
      expect(await bench.log({ types: [SWITCHED.type] })).toHaveLength(1);
    });

    // fault: ten servers switch a cron that others change and remove at the same time
    it('enable: of rivals one wins, and what was removed or changed stays so', async () => {
      const bench = await open();
      const { crons } = bench.store;
      const read = await crons.put(aCron());
      const { tenant, name, version } = read;
      const off = () => crons.enable({ tenant, name, expected: version, enabled: false, nextAt: null });
      const answers = await Promise.all(Array.from({ length: 10 }, off));
      expect(answers.filter((answer) => answer !== null)).toHaveLength(1);
      for (let round = 0; round < 5; round++) {
        const { version: expected } = (await crons.get(tenant, name))!;
        const change = aCron({ expression: `${round} * * * *`, version: expected + 1 });
        await Promise.all([
          crons.enable({ tenant, name, expected, enabled: false, nextAt: null }),
          crons.put(change),
          crons.enable({ tenant, name, expected, enabled: false, nextAt: null }),
        ]);
        expect(await crons.get(tenant, name)).toMatchObject({ expression: change.expression });
      }
      const { version: expected } = (await crons.get(tenant, name))!;
      const on = () => crons.enable({ tenant, name, expected, enabled: true, nextAt: bench.now });
      await Promise.all([on(), crons.remove(tenant, name), on()]);
      expect(await crons.get(tenant, name)).toBeNull();
    });

    // fault: the cron is registered again, as at every start of a process, before its due tick was fired
    it('A6: guarantee 9: put again with the same schedule, one keeps the tick that is due', async () => {
      const bench = await open();
      const { crons } = bench.store;
      const first = await crons.put(aCron());
      const later = bench.now + 60 * MINUTE_MS;
      const again = await crons.put(aCron({ description: 'again', nextAt: later, version: 2 }));
      expect(again).toMatchObject({ description: 'again', nextAt: first.nextAt, version: 2 });
      expect(await dueNames(bench)).toEqual([first.name]);
      for (const changed of [{ expression: '0 * * * *' }, { timezone: 'Europe/Berlin' }, { enabled: false }]) {
        const name = Object.keys(changed)[0]!;
        await crons.put(aCron({ name }));
        const nextAt = 'enabled' in changed ? null : later;
        expect(await crons.put(aCron({ name, ...changed, nextAt, version: 2 }))).toMatchObject({ ...changed, nextAt });
      }
      expect(await dueNames(bench)).toEqual([first.name]);
      expect(await crons.put(aCron({ name: 'enabled', nextAt: later, version: 3 }))).toMatchObject({ nextAt: later });
    });

    it('removed, one is answered once and never due again', async () => {
      const bench = await open();
      const cron = await bench.store.crons.put(aCron());
      expect(await bench.store.crons.remove('', cron.name)).toEqual(cron);
      expect(await bench.store.crons.remove('', cron.name)).toBeNull();
      expect(await dueNames(bench)).toEqual([]);
      expect(await bench.store.crons.fire(firing(bench, cron))).toEqual(LOST);
    });

    it('fired, one moves on and makes its job in the same step', async () => {
      const bench = await open();
      const cron = await bench.store.crons.put(aCron());
      expect(await dueNames(bench)).toEqual([cron.name]);
      const request = firing(bench, cron);
      expect(await bench.store.crons.fire(request)).toMatchObject({ status: 'fired' });
      const { nextAt, tick, job } = request;
      const moved = { ...cron, nextAt, lastAt: tick, lastJobId: job.job.id, runs: 1 };
      expect(await bench.store.crons.get('', cron.name)).toEqual(moved);
      expect(await bench.eventsOf(job.job)).toEqual(job.events);
      expect(idsOf(await bench.claim())).toEqual([job.job.id]);
      expect(await bench.store.due({ now: bench.now, limit: 9 })).toMatchObject({
        crons: [],
        nextAt: expect.any(Number),
      });
      expect(await dueNames(bench, nextAt!)).toEqual([cron.name]);
    });

    // fault: ten servers act at once
    it('guarantees 9 and 10: of ten servers that fire a tick, one does', async () => {
      const bench = await open();
      const cron = await bench.store.crons.put(aCron());
      const racers = Array.from({ length: 10 }, () => firing(bench, cron));
      const answers = await Promise.all(racers.map((request) => bench.store.crons.fire(request)));
      expect(answers.filter((answer) => answer.status === 'fired')).toHaveLength(1);
      expect(await bench.claim()).toHaveLength(1);
      expect(await bench.store.crons.get('', cron.name)).toMatchObject({ runs: 1 });
    });

    // fault: the same call is made again
    it('guarantees 9 and 10: a tick fired again makes no second job', async () => {
      const bench = await open();
      const cron = await bench.store.crons.put(aCron());
      const request = firing(bench, cron);
      await bench.store.crons.fire(request);
      expect(await bench.store.crons.fire(request)).toEqual(LOST);
      expect(await bench.claim()).toHaveLength(1);
    });

    // fault: the job of the tick was stored before
    it('guarantees 9 and 10: a job that is there already counts as fired', async () => {
      const bench = await open();
      const cron = await bench.store.crons.put(aCron());
      const request = firing(bench, cron);
      await bench.insert(request.job);
      expect(await bench.store.crons.fire(request)).toMatchObject({ status: 'fired' });
      expect(await bench.claim()).toHaveLength(1);
      expect(await bench.eventsOf(request.job.job)).toHaveLength(2);
    });

    // fault: another job holds the unique key of the tick’s job
    it('guarantee 9: a job that another one keeps out does not keep the cron from moving on', async () => {
      const bench = await open();
      const cron = await bench.store.crons.put(aCron());
      await bench.insert({ ...bench.make({ uniqueKey: 'u' }), unique: { key: 'u', owner: null } });
      const job = { ...bench.make({ uniqueKey: 'u' }), unique: { key: 'u', owner: null } };
      const request = firing(bench, cron, { job });
      expect(await bench.store.crons.fire(request)).toMatchObject({ status: 'fired' });
      expect(await bench.find(job.job)).toBeNull();
      expect(await bench.store.crons.get('', cron.name)).toMatchObject({ nextAt: request.nextAt, lastJobId: null });
    });

    it('a tick that is passed over makes no job', async () => {
      const bench = await open();
      const cron = await bench.store.crons.put(aCron());
      const { job: _, ...request } = firing(bench, cron);
      expect(await bench.store.crons.fire(request)).toMatchObject({ status: 'fired' });
      const moved = { nextAt: request.nextAt, runs: 0, lastJobId: null };
      expect(await bench.store.crons.get('', cron.name)).toMatchObject(moved);
      expect(await bench.claim()).toEqual([]);
    });

    it('a tick of the schedule before cannot be fired by the new one', async () => {
      const bench = await open();
      const cron = await bench.store.crons.put(aCron());
      const stale = firing(bench, cron);
      await bench.store.crons.put({ ...cron, version: cron.version + 1 });
      expect(await bench.store.crons.fire(stale)).toEqual(LOST);
      expect(await bench.claim()).toEqual([]);
    });

    it('paused, one is not due, and its old tick is lost', async () => {
      const bench = await open();
      const cron = await bench.store.crons.put(aCron());
      await bench.store.crons.put({ ...cron, enabled: false, nextAt: null, version: cron.version + 1 });
      expect(await bench.store.due({ now: bench.now + 1e9, limit: 9 })).toMatchObject({ crons: [], nextAt: null });
      expect(await bench.store.crons.fire(firing(bench, cron))).toEqual(LOST);
    });

    // fault: none, the rule itself
    it('guarantee 7: the job of a tick obeys its limit', async () => {
      const bench = await open();
      await bench.limit({ concurrency: 1 });
      await bench.add({ limitKey: 'k', queue: 'elsewhere' });
      const cron = await bench.store.crons.put(aCron());
      const job = bench.make({ limitKey: 'k' });
      await bench.store.crons.fire(firing(bench, cron, { job }));
      expect(await bench.read(job.job)).toMatchObject({ state: 'available', holdsSlot: false });
    });
  });
}
