import fc from 'fast-check';
import { expect, test } from 'vitest';
import { engine } from '../engine.ts';
import { silentLogger } from '../logger.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import { propertyRuns } from '../testing/property-runs.ts';
import { recordingSink } from '../testing/recording-sink.ts';
import { severable } from '../testing/severed-store.ts';
import { TestClock } from '../testing/test-clock.ts';
import { eventIdOf } from './event-id.ts';

const SERVERS = 2;

type Refusing = 'all' | 'some' | 'jobs' | 'none';

type Step =
  | { do: 'enqueue' }
  /** One of the jobs so far is cancelled, or runs again if it was. */
  | { do: 'turn'; job: number }
  | { do: 'pass'; ms: number }
  /** A server is cut off from its store, as if it were dead to the others; or comes back. */
  | { do: 'sever' | 'mend' | 'restart'; server: number }
  /** The receiver refuses everything, one event in three, everything of every other job, or nothing. */
  | { do: 'refuse'; what: Refusing };

const server = fc.nat(SERVERS - 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Step>({ do: 'enqueue' }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('turn' as const), job: fc.nat() }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(10, 400, 1_500, 20_000, 45_000) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('sever' as const, 'mend' as const, 'restart' as const), server }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('refuse' as const),
      what: fc.constantFrom<Refusing>('all', 'some', 'jobs', 'none'),
    }),
  },
);

/** As large as usual, and so small that lines are parked all the time. */
const bounds = fc.constantFrom(
  { events: 1_000, bytes: 1_000_000, share: 0.1 },
  { events: 3, bytes: 1_000_000, share: 0.5 },
  { events: 8, bytes: 1_000_000, share: 0.2 },
);

/** A line is parked behind its first event, which the receiver refuses, and then the server ends. */
const PARKED_BEHIND_ITS_HEAD: [Step[], { events: number; bytes: number; share: number }] = [
  [
    { do: 'enqueue' },
    { do: 'refuse', what: 'all' },
    ...Array.from({ length: 3 }, (): Step => ({ do: 'turn', job: 0 })),
    { do: 'pass', ms: 45_000 },
    { do: 'enqueue' },
    { do: 'restart', server: 0 },
    { do: 'restart', server: 1 },
    ...Array.from({ length: 4 }, (): Step => ({ do: 'turn', job: 0 })),
  ],
  { events: 3, bytes: 1_000_000, share: 0.5 },
];

/** The first event of a line is refused, and the later ones, which are parked, would not be. */
const PARKED_WOULD_OVERTAKE: typeof PARKED_BEHIND_ITS_HEAD = [
  [
    { do: 'enqueue' },
    { do: 'pass', ms: 400 },
    { do: 'enqueue' },
    { do: 'pass', ms: 400 },
    { do: 'refuse', what: 'some' },
    ...Array.from({ length: 4 }, (): Step => ({ do: 'turn', job: 0 })),
    { do: 'pass', ms: 400 },
  ],
  { events: 3, bytes: 1_000_000, share: 0.5 },
];

test('whatever fails in between: every event arrives, those of a job in order, each under one id', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), bounds, async (steps, window) => {
      const clock = new TestClock();
      const store = memoryStore({ clock });
      const producer = engine({ store: severable(store).store, logger: silentLogger, maintenance: false });
      const sink = recordingSink();
      let refusing: Refusing = 'none';
      let tries = 0;
      sink.behave = ({ event }) => {
        tries += 1;
        if (refusing === 'jobs' && jobs.indexOf(event.jobId!) % 2 === 0) throw new Error('422');
        if (refusing === 'all' || (refusing === 'some' && tries % 3 === 0)) throw new Error('away');
      };
      const start = () => {
        const way = severable(store);
        const waybill = engine({ store: way.store, logger: silentLogger, maintenance: false });
        return { ...way, waybill, sinks: waybill.sinks!.run({ list: async () => [sink] }, { bounds: window }) };
      };
      await producer.sinks!.moveTo(sink, null);
      const jobs: string[] = [];
      const servers = Array.from({ length: SERVERS }, start);
      const cancelled = new Set<string>();
      for (const one of steps) {
        if (one.do === 'enqueue') jobs.push((await producer.jobs.enqueue({ type: 't', args: [] })).job.id);
        else if (one.do === 'pass') await clock.advance(one.ms);
        else if (one.do === 'refuse') refusing = one.what;
        else if (one.do === 'turn') {
          const id = jobs[one.job % jobs.length];
          if (id === undefined) continue;
          if (cancelled.delete(id)) await producer.jobs.retry(id);
          else {
            cancelled.add(id);
            await producer.jobs.cancel(id);
          }
        } else if (one.do === 'restart') {
          await servers[one.server]!.waybill.close();
          servers[one.server] = start();
        } else servers[one.server]![one.do]();
      }
      for (const { mend } of servers) mend();
      refusing = 'none';
      await clock.advance(15 * 60_000);

      const { events } = await producer.events.read({ limit: 1_000 });
      const arrived = new Map<string, number>();
      sink.got.forEach(({ id }, at) => {
        if (!arrived.has(id)) arrived.set(id, at);
      });
      expect([...arrived.keys()].sort()).toEqual(events.map(eventIdOf).sort());
      for (const { id, event } of sink.tries) expect(id).toBe(eventIdOf(event));
      for (const line of Map.groupBy(events, ({ jobId }) => jobId).values()) {
        const places = line.toSorted((a, b) => a.sequence - b.sequence).map((event) => arrived.get(eventIdOf(event))!);
        expect(places).toEqual(places.toSorted((a, b) => a - b));
      }
      await Promise.all([...servers.map(({ waybill }) => waybill.close()), producer.close()]);
      expect(clock.sleepers).toBe(0);
    }),
    { numRuns: propertyRuns(100), examples: [PARKED_BEHIND_ITS_HEAD, PARKED_WOULD_OVERTAKE] },
  );
});
