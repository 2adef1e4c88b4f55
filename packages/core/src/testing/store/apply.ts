import { describe, expect, it } from 'vitest';
import { TERMINAL_EVENT_TYPES } from '../../events/job-event.ts';
import type { Outcome } from '../../job/outcome.ts';
import { transition } from '../../job/transition.ts';
import { settleChange, versionChange } from '../changes.ts';
import { TEST_EPOCH } from '../test-clock.ts';
import { COMPLETED, DEAD, DISCARDED, FAILED, type OpenBench } from './bench.ts';

const APPLIED = { status: 'applied', repeated: false, admitted: [] };
const REPEATED = { status: 'applied', repeated: true, admitted: [] };
const LOST = { status: 'lost' };

const OUTCOMES: [name: string, outcome: Outcome][] = [
  ['completed', COMPLETED],
  ['completed without a result', { kind: 'completed', result: null }],
  ['failed', FAILED],
  ['snoozed', { kind: 'snoozed', until: TEST_EPOCH + 60_000 }],
  ['snoozed for a reason', { kind: 'snoozed', error: { code: 'unknown_type', message: 'Nobody knows it.' } }],
  ['requeued', { kind: 'requeued' }],
  ['cancelled', { kind: 'cancelled', reason: 'nobody wants it' }],
  ['discarded', DISCARDED],
  ['discarded and kept', DEAD],
];

export function testApply(open: OpenBench): void {
  describe('apply', () => {
    it.each(OUTCOMES)('by lease: %s writes the new row and its events', async (_, outcome) => {
      const bench = await open();
      const claimed = await bench.start({ spec: { args: [1], meta: { m: 1 } } });
      const change = settleChange(claimed, outcome, bench.now);
      expect(await bench.store.apply([change])).toEqual([APPLIED]);
      expect(await bench.read(claimed)).toEqual(change.job);
      expect((await bench.eventsOf(claimed)).slice(2)).toEqual(change.events);
    });

    it('keeps what never changes, whatever the change carries', async () => {
      const bench = await open();
      const claimed = await bench.start({ spec: { args: [1], meta: {} } });
      const change = settleChange(claimed, COMPLETED, bench.now);
      const job = { ...change.job, createdAt: 0, spec: { args: [], meta: {} } };
      await bench.store.apply([{ ...change, job }]);
      expect(await bench.read(claimed)).toEqual(change.job);
    });

    // fault: the lease runs out and another claim starts the next run
    it('guarantee 3: a token whose run is over changes nothing', async () => {
      const bench = await open();
      const first = await bench.start();
      await bench.clock.advance(30_000);
      await bench.sweep();
      expect(await bench.settle(first, COMPLETED)).toEqual(LOST);
      const [second] = await bench.claim();
      expect(await bench.settle(first, COMPLETED)).toEqual(LOST);
      expect(await bench.read(first)).toEqual(second);
      expect(await bench.eventsOf(first)).toHaveLength(second!.version);
    });

    // fault: a forged token: another claim id or another run
    it('guarantee 3: a token with another claim id or another run changes nothing', async () => {
      const bench = await open();
      const claimed = await bench.start();
      // An end, a retry and a hand-back: a store may write them in different ways.
      for (const outcome of [COMPLETED, FAILED, { kind: 'requeued' } as const]) {
        expect(await bench.settle({ ...claimed, claimId: 'forged' }, outcome)).toEqual(LOST);
        expect(await bench.settle({ ...claimed, run: claimed.run + 1 }, outcome)).toEqual(LOST);
      }
      expect(await bench.read(claimed)).toEqual(claimed);
    });

    it('a change of a job that is not there is lost', async () => {
      const bench = await open();
      const stored = await bench.start();
      const unknown = { ...stored, id: bench.make().job.id };
      const byVersion = versionChange(unknown, { do: 'cancel' }, bench.now)!;
      expect(await bench.store.apply([settleChange(unknown, COMPLETED, bench.now), byVersion])).toEqual([LOST, LOST]);
      expect(await bench.find(unknown)).toBeNull();
    });

    // fault: the same call is made again
    it.each(OUTCOMES)(
      'guarantee 10: %s settled again by the same token is applied, and nothing is written',
      async (_, outcome) => {
        const bench = await open();
        const claimed = await bench.start();
        await bench.settle(claimed, outcome);
        const row = await bench.read(claimed);
        await bench.clock.advance(5);
        expect(await bench.settle(claimed, outcome)).toEqual(REPEATED);
        expect(await bench.read(claimed)).toEqual(row);
        expect(await bench.eventsOf(claimed)).toHaveLength(row.version);
      },
    );

    // fault: the same call is made again, after a retry and after the next claim
    it('guarantee 10: the repetition is known while the job goes on, until its next run', async () => {
      const bench = await open();
      const claimed = await bench.start();
      await bench.settle(claimed, FAILED);
      await bench.clock.advance(10_000);
      await bench.sweep();
      expect(await bench.read(claimed)).toMatchObject({ state: 'available' });
      expect(await bench.settle(claimed, FAILED)).toEqual(REPEATED);
      await bench.claim();
      expect(await bench.settle(claimed, FAILED)).toEqual(LOST);
    });

    // fault: the same token settles again with another outcome
    it('guarantee 3: another outcome by the same token is lost', async () => {
      const bench = await open();
      const claimed = await bench.start();
      await bench.settle(claimed, COMPLETED);
      for (const outcome of [FAILED, DISCARDED, { kind: 'requeued' } as const]) {
        expect(await bench.settle(claimed, outcome)).toEqual(LOST);
      }
      expect(await bench.read(claimed)).toMatchObject({ state: 'completed' });
    });

    // fault: the same call is made again, in one batch
    it('guarantee 10: two settles of one run in one call have the effect of one', async () => {
      const bench = await open();
      const [same, other] = [await bench.start(), await bench.start()];
      const done = settleChange(same, COMPLETED, bench.now);
      const answers = await bench.store.apply([
        done,
        settleChange(other, COMPLETED, bench.now),
        done,
        settleChange(other, FAILED, bench.now),
      ]);
      expect(answers).toEqual([APPLIED, APPLIED, REPEATED, LOST]);
      expect(await bench.eventsOf(same)).toHaveLength(3);
      expect(await bench.eventsOf(other)).toHaveLength(3);
    });

    it('by version: applied when nobody wrote since the row was read, lost otherwise', async () => {
      const bench = await open();
      const read = await bench.add();
      const change = versionChange(read, { do: 'cancel', by: 'me' }, bench.now)!;
      await bench.claim();
      expect(await bench.store.apply([change])).toEqual([LOST]);
      expect(await bench.read(read)).toMatchObject({ state: 'active' });
      expect(await bench.command(read, { do: 'cancel', by: 'me' })).toEqual(APPLIED);
      expect(await bench.read(read)).toMatchObject({ state: 'cancelled', version: 3 });
      expect(await bench.store.apply([change])).toEqual([LOST]);
    });

    it('by version: lost also when the row looks as it did when it was read', async () => {
      const bench = await open();
      const read = await bench.add();
      const change = versionChange(read, { do: 'cancel' }, bench.now)!;
      const [claimed] = await bench.claim();
      await bench.settle(claimed!, { kind: 'requeued' });
      const { state, nextAt, holdsSlot } = await bench.read(read);
      expect({ state, nextAt, holdsSlot }).toEqual({ state: read.state, nextAt: null, holdsSlot: false });
      expect(await bench.store.apply([change])).toEqual([LOST]);
      expect(await bench.read(read)).toMatchObject({ state: 'available', version: 3 });
    });

    // fault: another write comes between reading the row and writing it
    it('guarantee 2: a heartbeat between reading the row and writing it makes the change lost', async () => {
      const bench = await open();
      const claimed = await bench.start();
      await bench.clock.advance(30_000);
      const { jobs } = await bench.store.due({ now: bench.now, limit: 10 });
      const tick = versionChange(jobs[0]!, { do: 'tick' }, bench.now)!;
      const beat = { tenant: '', id: claimed.id, by: { run: 1, claimId: claimed.claimId! }, leaseMs: null };
      await bench.store.extend([{ ...beat, now: bench.now }]);
      expect(await bench.store.apply([tick])).toEqual([LOST]);
      expect(await bench.settle(claimed, COMPLETED)).toEqual(APPLIED);
    });

    it('compares an absent alarm with an absent alarm', async () => {
      const bench = await open();
      const job = await bench.add({ state: 'pending' });
      expect(job.nextAt).toBeNull();
      const change = versionChange(job, { do: 'activate' }, bench.now)!;
      const seen = { by: 'version', version: job.version, holdsSlot: false } as const;
      const expectsAlarm = { ...change, expect: { ...seen, nextAt: bench.now } } as const;
      expect(await bench.store.apply([expectsAlarm])).toEqual([LOST]);
      expect(await bench.store.apply([change])).toEqual([APPLIED]);
    });

    it('one change that is lost does not take the others of its call with it', async () => {
      const bench = await open();
      const [a, b, c] = [await bench.start(), await bench.start(), await bench.start()];
      await bench.settle(b, DISCARDED);
      const answers = await bench.store.apply([a, b, c].map((job) => settleChange(job, COMPLETED, bench.now)));
      expect(answers).toEqual([APPLIED, LOST, APPLIED]);
      expect(await bench.store.count({ tenant: '', states: ['completed'] }, { atMost: 9 })).toBe(2);
    });

    // fault: twenty calls at once
    it('guarantee 4: of twenty concurrent settles of one run, one writes the end', async () => {
      const bench = await open();
      const claimed = await bench.start();
      const outcomes = Array.from({ length: 20 }, (_, i) => (i % 2 ? COMPLETED : DISCARDED));
      const answers = await Promise.all(outcomes.map((outcome) => bench.settle(claimed, outcome)));
      const row = await bench.read(claimed);
      expect(answers.filter((answer) => answer.status === 'applied' && !answer.repeated)).toHaveLength(1);
      for (const [i, answer] of answers.entries()) {
        expect(answer.status).toBe(outcomes[i]!.kind === row.outcome ? 'applied' : 'lost');
      }
      const ends = (await bench.eventsOf(claimed)).filter(({ type }) => TERMINAL_EVENT_TYPES.has(type));
      expect(ends).toHaveLength(1);
    });

    // fault: none, the rule itself
    it('guarantee 4: a replay opens the job for one more end', async () => {
      const bench = await open();
      const claimed = await bench.start();
      await bench.settle(claimed, DEAD);
      expect(await bench.command(claimed, { do: 'replay' })).toEqual(APPLIED);
      const [again] = await bench.claim();
      expect(again).toMatchObject({ id: claimed.id, run: 2, attempt: 1 });
      await bench.settle(again!, COMPLETED);
      const types = (await bench.eventsOf(claimed)).map((event) => event.type);
      expect(types.filter((type) => TERMINAL_EVENT_TYPES.has(type))).toEqual(['job.discarded', 'job.completed']);
    });

    // fault: none, the rule itself
    it.each([
      ['completed', COMPLETED],
      ['cancelled', { kind: 'cancelled', reason: 'not now' }],
      ['discarded', DISCARDED],
    ] as const)('D2: guarantee 4: a job that was %s runs again and ends once more', async (state, outcome) => {
      const bench = await open();
      for (const limitKey of [null, 'k']) {
        if (limitKey !== null) await bench.limit({ concurrency: 1 });
        const claimed = await bench.start({ limitKey });
        await bench.settle(claimed, outcome);
        const ended = await bench.read(claimed);
        expect(ended.state).toBe(state);
        await bench.clock.advance(1_000);
        expect(await bench.command(claimed, { do: 'replay' })).toMatchObject({ status: 'applied', repeated: false });
        const revived = await bench.read(claimed);
        const expected = transition(ended, { do: 'replay' }, bench.now)!.job;
        expect(revived).toEqual({ ...expected, holdsSlot: limitKey !== null, rank: revived.rank });
        const [again] = await bench.claim();
        expect(again).toMatchObject({ id: claimed.id, run: 2, attempt: 1, result: null });
        await bench.settle(again!, { ...COMPLETED, result: 'second' });
        expect(await bench.read(claimed)).toMatchObject({ state: 'completed', result: 'second', run: 2 });
        const ends = (await bench.eventsOf(claimed)).filter(({ type }) => TERMINAL_EVENT_TYPES.has(type));
        expect(ends.map(({ type }) => type)).toEqual([`job.${state}`, 'job.completed']);
      }
    });

    it('a change without events keeps the version', async () => {
      const bench = await open();
      const claimed = await bench.start();
      await bench.settle(claimed, DEAD);
      const dead = await bench.read(claimed);
      expect(await bench.command(claimed, { do: 'forget' })).toEqual(APPLIED);
      expect(await bench.read(claimed)).toEqual({ ...dead, dead: false });
    });
  });
}
