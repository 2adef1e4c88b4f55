import { describe, expect, it } from 'vitest';
import { engine } from '../../engine.ts';
import { silentLogger } from '../../logger.ts';
import type { StoreFactory } from '../store/bench.ts';

/** More than a sweep looks at, several times over. */
const UNREADABLE = 2_000;
const PER_CALL = 500;
const GOOD = 20;
const IN_TIME_S = 10;
/** Sweep and prune sleep: the engine has done what there was to do. */
const LOOPS = 2;

/** However many rows that cannot be read come up first, the sweep gets to those behind them. */
export function testManyUnreadable(name: string, factory: StoreFactory): void {
  describe(`${name} with many rows that cannot be read`, () => {
    // fault: rows damaged from outside, more than one sweep looks at
    it(`guarantee 12: behind ${UNREADABLE} of them, others come up in time`, { timeout: 300_000 }, async ({ skip }) => {
      const { store, clock, damage, close } = await factory();
      const waybill = engine({ store, logger: silentLogger });
      try {
        if (!damage) return skip('the store keeps no rows that could be damaged from outside');
        const enqueue = (count: number, scheduled_at: string) =>
          waybill.jobs.enqueueMany(
            Array.from({ length: count }, () => ({ type: 'test.job', args: [], options: { scheduled_at } })),
          );
        for (let n = 0; n < UNREADABLE; n += PER_CALL)
          await Promise.all((await enqueue(PER_CALL, '+PT1S')).map((job) => damage.job(job)));
        const good = await enqueue(GOOD, '+PT2S');
        const waiting = async () => {
          const rows = await Promise.all(good.map(({ id }) => waybill.jobs.get(id)));
          return rows.filter(({ state }) => state !== 'available').length;
        };
        for (let second = 0; second < IN_TIME_S; second += 1) {
          await clock.whenSleeping(LOOPS);
          await clock.advance(1_000);
        }
        await clock.whenSleeping(LOOPS);
        expect(await waiting()).toBe(0);
        expect((await waybill.health()).maintenance).toMatchObject({ status: 'failing', failing: UNREADABLE });
      } finally {
        await waybill.close();
        await close();
      }
    });
  });
}
