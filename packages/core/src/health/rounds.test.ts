import { describe, expect, onTestFinished, test } from 'vitest';
import { type Engine, engine } from '../engine.ts';
import { silentLogger } from '../logger.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import { type Fault, faultyStore } from '../testing/faulty-store.ts';
import { TestClock } from '../testing/test-clock.ts';
import { testEngine } from '../testing/test-engine.ts';
import type { HealthOptions } from './health-options.ts';
import { INCIDENT_EVENTS } from './incidents/incident.ts';
import { MOST_OPEN } from './incidents/incident-book.ts';

const MINUTE = 60_000;
const ROUND = 5 * MINUTE;
/** One check alone, so that each test knows what is found. */
const ONLY_QUEUES: HealthOptions = { off: ['live-workers', 'running-jobs', 'sweep-lag', 'clock-skew'] };

async function told(waybill: Engine, types: readonly string[] = INCIDENT_EVENTS, tenant = '*') {
  const { events } = await waybill.events.read({ filter: { tenant, types: types as never }, limit: 1_000 });
  return events.map(({ type, subject }) => `${type.slice(type.indexOf('.') + 1)} ${subject}`);
}

const incident = (waybill: Engine, id: string, tenant = '') => waybill.records.get('incident', id, { tenant });

describe('an incident', () => {
  test('is opened once, escalated once and closed once, however many rounds find it', async () => {
    const { waybill, clock, enqueue } = testEngine({ health: ONLY_QUEUES });
    const id = await enqueue();
    await clock.advance(4 * ROUND);
    expect(await told(waybill)).toEqual(['opened queue-age:queue:default']);
    expect((await incident(waybill, 'queue-age:queue:default')).value).toMatchObject({
      ...{ check: 'queue-age', subject: 'queue:default', severity: 'warning', status: 'open', queue: 'default' },
      opened_at: expect.any(String),
    });
    await clock.advance(8 * ROUND);
    expect(await told(waybill)).toEqual(['opened queue-age:queue:default', 'escalated queue-age:queue:default']);
    await waybill.jobs.cancel(id);
    await clock.advance(2 * ROUND);
    expect(await told(waybill)).toEqual([
      'opened queue-age:queue:default',
      'escalated queue-age:queue:default',
      'closed queue-age:queue:default',
    ]);
    const { value, expiresAt } = await incident(waybill, 'queue-age:queue:default');
    expect(value).toMatchObject({ status: 'closed', severity: 'critical', closed_at: expect.any(String) });
    expect(expiresAt).toBeGreaterThan(clock.now());
  });

  test('is opened anew when the same comes back', async () => {
    const { waybill, clock, enqueue } = testEngine({ health: ONLY_QUEUES });
    for (let n = 0; n < 2; n += 1) {
      const id = await enqueue();
      await clock.advance(2 * ROUND + MINUTE);
      await waybill.jobs.cancel(id);
      await clock.advance(2 * ROUND);
    }
    expect((await told(waybill)).map((line) => line.split(' ')[0])).toEqual(['opened', 'closed', 'opened', 'closed']);
  });

  test('does not become milder while it is open, and keeps the note of a person', async () => {
    const { waybill, clock, enqueue } = testEngine({ health: ONLY_QUEUES });
    const first = await enqueue();
    await clock.advance(20 * MINUTE);
    await enqueue();
    await clock.advance(16 * MINUTE);
    const { value, version } = await incident(waybill, 'queue-age:queue:default');
    expect(value).toMatchObject({ severity: 'critical' });
    const noted = { kind: 'incident', id: 'queue-age:queue:default', value: { ...value, note: 'Ada is at it.' } };
    await waybill.records.put({ ...noted, expected: version });
    await waybill.jobs.cancel(first);
    await clock.advance(ROUND);
    expect((await incident(waybill, 'queue-age:queue:default')).value).toMatchObject({
      ...{ severity: 'critical', status: 'open', note: 'Ada is at it.' },
    });
    expect(await told(waybill)).toHaveLength(2);
  });

  test('that a person has removed is opened anew while it lasts', async () => {
    const { waybill, clock, enqueue } = testEngine({ health: ONLY_QUEUES });
    await enqueue();
    await clock.advance(2 * ROUND + MINUTE);
    await waybill.records.remove('incident', 'queue-age:queue:default');
    await clock.advance(ROUND);
    expect(await told(waybill)).toEqual(Array(2).fill('opened queue-age:queue:default'));
  });

  test('is not closed by a check that failed', async () => {
    const faults: Fault[] = [];
    const { waybill, clock, store, enqueue } = testEngine({ health: ONLY_QUEUES, faults });
    const id = await enqueue();
    await clock.advance(2 * ROUND + MINUTE);
    await waybill.jobs.cancel(id);
    faults.push({ method: 'queues.stats', call: store.calls('queues.stats') + 1, when: 'before' });
    await waybill.checks.round!();
    expect(await told(waybill)).toEqual(['opened queue-age:queue:default']);
    await waybill.checks.round!();
    expect(await told(waybill)).toEqual(['opened queue-age:queue:default', 'closed queue-age:queue:default']);
  });

  test('about jobs: so many are open at once, and the next come when some are over', async () => {
    const { waybill, clock, enqueue } = testEngine({ maintenance: false });
    const ids: string[] = [];
    for (let n = 0; n < MOST_OPEN + 5; n += 1) ids.push(await enqueue());
    const leases = await waybill.jobs.claim({ queues: ['default'], count: ids.length, leaseMs: 1_000 });
    await clock.advance(11 * MINUTE);
    const running = async () => (await told(waybill)).filter((line) => line.includes('running-jobs'));
    await waybill.checks.round!();
    expect(await running()).toHaveLength(MOST_OPEN);
    const [open] = await running();
    const over = leases.find(({ job }) => open!.endsWith(job.id))!;
    await waybill.jobs.settle({ id: over.job.id, leaseToken: over.token, outcome: { kind: 'completed', result: 1 } });
    await waybill.checks.round!();
    await waybill.checks.round!();
    expect((await running()).filter((line) => line.startsWith('opened'))).toHaveLength(MOST_OPEN + 1);
  });
});

test('a tenant has its own incidents; what is about the server is told to the one without a name', async () => {
  const { waybill, clock } = testEngine({ maintenance: false });
  await waybill.jobs.enqueue({ type: 'a.b', args: [] }, { tenant: 'acme' });
  await waybill.jobs.claim({ queues: ['default'], tenant: 'acme', leaseMs: 1_000 });
  await clock.advance(11 * MINUTE);
  expect(await waybill.checks.round!()).toMatchObject({ tenants: 2, opened: 2, cut: false });
  const stuck = expect.stringMatching(/^opened running-jobs:job:/);
  expect(await told(waybill, INCIDENT_EVENTS, 'acme')).toEqual([stuck]);
  expect(await told(waybill, INCIDENT_EVENTS, '')).toEqual(['opened sweep-lag:sweep']);
});

test('the summary of a round is an event of each tenant with running jobs, whatever was found', async () => {
  const { waybill, clock } = testEngine({ maintenance: false });
  await waybill.jobs.enqueue({ type: 'a.b', args: [] }, { tenant: 'acme' });
  const [lease] = await waybill.jobs.claim({ queues: ['default'], tenant: 'acme', leaseMs: 1_000, workerId: 'w1' });
  await clock.advance(6 * MINUTE);
  await waybill.checks.round!();
  const { events } = await waybill.events.read({ filter: { tenant: '*', types: ['health.checked'] } });
  expect(events).toMatchObject([
    {
      ...{ tenant: 'acme', subject: 'running-jobs' },
      data: {
        status: 'warning',
        summary: { total_processing: 1, healthy: 0, warning: 1, critical: 0, overtime: 0 },
        tasks: [
          {
            ...{ job_id: lease!.job.id, job_type: 'a.b', health: 'warning', worker_id: 'w1' },
            ...{ elapsed_ms: 6 * MINUTE, silent_ms: 6 * MINUTE, last_event: 'job.started' },
          },
        ],
      },
    },
  ]);
});

test('a tenant that fails does not keep the others from being looked at', async () => {
  const { waybill, clock } = testEngine({
    maintenance: false,
    // Its incidents are read after the lock's own record, which is read twice.
    faults: [{ method: 'records.get', call: 4, when: 'before' }],
  });
  for (const tenant of ['a', 'b']) await waybill.jobs.enqueue({ type: 'a.b', args: [] }, { tenant });
  await clock.advance(31 * MINUTE);
  await waybill.checks.round!();
  await waybill.checks.round!();
  expect(await told(waybill, ['incident.opened'], 'a')).toHaveLength(2);
  expect(await told(waybill, ['incident.opened'], 'b')).toHaveLength(2);
});

describe('several servers on one store', () => {
  function fleet(count: number, faults: readonly Fault[] = [], health: HealthOptions = ONLY_QUEUES) {
    const clock = new TestClock();
    const on = memoryStore({ clock });
    const rounds: string[] = [];
    const servers = Array.from({ length: count }, (_, index) => {
      const store = faultyStore({ ...on, close: async () => {} }, index === 0 ? faults : []);
      const { due } = store;
      // Of the round itself: nothing else asks for one row.
      const noted = {
        ...store,
        due: (query: Parameters<typeof due>[0]) => {
          if (query.limit === 1) rounds.push(`s${index}`);
          return due(query);
        },
      };
      const waybill = engine({ store: noted, logger: silentLogger, health: { ...health } });
      onTestFinished(() => waybill.close());
      return waybill;
    });
    onTestFinished(() => on.close());
    return { clock, servers, waybill: servers[0]!, rounds };
  }

  test('make one round in each interval between them', async () => {
    const { clock, rounds } = fleet(5, [], {});
    await clock.advance(10 * ROUND);
    expect(rounds.length).toBe(10);
  });

  test('open, escalate and close one incident, although all look at once', async () => {
    const { clock, servers, waybill } = fleet(5);
    const { job } = await waybill.jobs.enqueue({ type: 'a.b', args: [] });
    await clock.advance(6 * MINUTE);
    await Promise.all(servers.map((server) => server.checks.round!()));
    await clock.advance(30 * MINUTE);
    await Promise.all(servers.map((server) => server.checks.round!()));
    await waybill.jobs.cancel(job.id);
    await Promise.all(servers.map((server) => server.checks.round!()));
    expect((await told(waybill)).map((line) => line.split(' ')[0])).toEqual(['opened', 'escalated', 'closed']);
  });

  test('change an incident once, although each believes that it holds the lock', async () => {
    const clock = new TestClock();
    const on = memoryStore({ clock });
    const take = async () => ({ status: 'held', fence: 1, until: clock.now() + MINUTE }) as const;
    const servers = Array.from({ length: 5 }, () => {
      const store = { ...on, locks: { take, release: async () => true }, close: async () => {} };
      const waybill = engine({ store, logger: silentLogger, maintenance: false, health: ONLY_QUEUES });
      onTestFinished(() => waybill.close());
      return waybill;
    });
    const { job } = await servers[0]!.jobs.enqueue({ type: 'a.b', args: [] });
    const round = () => Promise.all(servers.map((server) => server.checks.round!()));
    await clock.advance(6 * MINUTE);
    await round();
    await clock.advance(30 * MINUTE);
    await round();
    await servers[0]!.jobs.cancel(job.id);
    await round();
    expect((await told(servers[0]!)).map((line) => line.split(' ')[0])).toEqual(['opened', 'escalated', 'closed']);
  });

  test.each(['before', 'after'] as const)(
    'tell an incident once, when the store fails %s each write of a round',
    async (when) => {
      for (let call = 1; call <= 4; call += 1) {
        const { clock, waybill } = fleet(5, [{ method: 'records.put', call, when }]);
        await waybill.jobs.enqueue({ type: 'a.b', args: [] });
        await clock.advance(6 * MINUTE);
        // The first server dies in the middle of its round.
        await waybill.checks.round!().catch(() => null);
        await clock.advance(2 * ROUND);
        expect({ call, told: await told(waybill) }).toEqual({ call, told: ['opened queue-age:queue:default'] });
      }
    },
  );

  test('close what a server has opened that died in the middle of a round, whatever it could not write any more', async () => {
    for (let from = 1; from <= 4; from += 1) {
      const dead = Array.from({ length: 20 }, (_, index) => ({ call: from + index, when: 'before' as const }));
      const { clock, servers, waybill } = fleet(
        2,
        dead.map((fault) => ({ ...fault, method: 'records.put' as const })),
      );
      const { job } = await waybill.jobs.enqueue({ type: 'a.b', args: [] });
      await clock.advance(6 * MINUTE);
      await waybill.checks.round!().catch(() => null);
      await waybill.jobs.cancel(job.id);
      await clock.advance(MINUTE);
      await servers[1]!.checks.round!();
      const words = (await told(waybill)).map((line) => line.split(' ')[0]);
      expect({ from, words }).toEqual({ from, words: words.length === 0 ? [] : ['opened', 'closed'] });
    }
  });

  test('go on when the server that makes the rounds is gone', async () => {
    const { clock, servers, rounds } = fleet(2, [], {});
    await clock.advance(2 * ROUND);
    await servers[Number(rounds.at(-1)!.slice(1))]!.close();
    const before = rounds.length;
    await clock.advance(2 * ROUND);
    expect(rounds.length).toBeGreaterThan(before);
  });

  test('a clock that runs ahead keeps nobody else from the next round, and is found', async () => {
    const { clock, waybill } = fleet(2, [], {});
    clock.jump(HOUR);
    await waybill.checks.round!();
    clock.jump(-HOUR);
    await clock.advance(ROUND + MINUTE);
    expect(await told(waybill, ['incident.opened'])).toEqual(['opened clock-skew:clock']);
  });
});

const HOUR = 60 * MINUTE;

test('an engine without the option, without upkeep or with rounds off makes none', async () => {
  for (const options of [{}, { maintenance: false, health: {} }, { health: { rounds: false } }]) {
    const { waybill, clock, enqueue } = testEngine(options);
    await enqueue();
    await clock.advance(HOUR);
    expect(await told(waybill)).toEqual([]);
  }
});

test('a round ends where its server has lost the lock, and the next one goes on behind', async () => {
  const clock = new TestClock();
  const on = memoryStore({ clock });
  let rivals = 0;
  // A rival takes the lock while the first tenant is looked at, which takes a minute.
  const slow = {
    ...on,
    close: async () => {},
    queues: {
      ...on.queues,
      list: async (tenant: string) => {
        if (rivals === 0) {
          rivals += 1;
          clock.jump(2 * MINUTE);
          await clock.advance(MINUTE);
          await on.locks.take({ name: 'health-round', owner: 'rival', leaseMs: MINUTE });
        }
        return on.queues.list(tenant);
      },
    },
  };
  const waybill = engine({ store: slow, logger: silentLogger, maintenance: false, health: ONLY_QUEUES });
  onTestFinished(() => waybill.close());
  for (const tenant of ['a', 'b']) await waybill.jobs.enqueue({ type: 'a.b', args: [] }, { tenant });
  await clock.advance(6 * MINUTE);
  expect(await waybill.checks.round!()).toMatchObject({ tenants: 1, opened: 0, cut: true });
  expect(await waybill.checks.round!()).toBe(null);
  await clock.advance(MINUTE + 1);
  expect(await waybill.checks.round!()).toMatchObject({ tenants: 3, opened: 2, cut: false });
});
