import { describe, expect, onTestFinished, test } from 'vitest';
import { engine } from '../engine.ts';
import type { HealthOptions } from '../health/health-options.ts';
import { INCIDENT_EVENTS } from '../health/incidents/incident.ts';
import { silentLogger } from '../logger.ts';
import type { Store } from '../store/store.ts';
import { type Fault, faultyStore } from './faulty-store.ts';
import type { StoreFactory } from './store/bench.ts';

const MINUTE = 60_000;
const JOB = { type: 'test.job', args: [] };
/** What time alone does not bring about on any store. */
const HEALTH: HealthOptions = { off: ['sweep-lag', 'clock-skew', 'live-workers'] };

/** What health checks and incidents promise, on that very store. */
export function testHealth(name: string, factory: StoreFactory): void {
  const open = async () => {
    const made = await factory();
    onTestFinished(() => made.close());
    const server = (faults: readonly Fault[] = []) => {
      const store: Store = { ...faultyStore(made.store, faults), close: async () => {} };
      const waybill = engine({ store, logger: silentLogger, maintenance: false, health: HEALTH });
      onTestFinished(() => waybill.close());
      return waybill;
    };
    return { ...made, server };
  };
  type Server = ReturnType<Awaited<ReturnType<typeof open>>['server']>;

  const told = async ({ events }: Server, tenant = '') => {
    const page = await events.read({ filter: { tenant, types: [...INCIDENT_EVENTS] }, limit: 100 });
    return page.events.map(({ type, subject }) => `${type.slice('incident.'.length)} ${subject}`);
  };

  describe(`health on ${name}`, () => {
    test('finds the jobs, queues, dead letters and crons of a tenant, and nothing of others', async () => {
      const { server, clock } = await open();
      const waybill = server();
      const at = { tenant: 'acme' };
      const cron = await waybill.crons.put({ name: 'tick', expression: '0 * * * *', job_template: JOB }, at);
      const { job: stuck } = await waybill.jobs.enqueue(JOB, at);
      await waybill.jobs.claim({ queues: ['default'], leaseMs: 30_000, workerId: 'w1', ...at });
      const { job: waiting } = await waybill.jobs.enqueue({ ...JOB, options: { queue: 'mail' } }, at);
      const { job: dead } = await waybill.jobs.enqueue({ ...JOB, options: { queue: 'bulk' } }, at);
      const [lease] = await waybill.jobs.claim({ queues: ['bulk'], ...at });
      const error = { code: 'boom', message: 'It broke.' };
      const outcome = { kind: 'discarded', error, deadLetter: true } as const;
      await waybill.jobs.settle({ id: dead.id, leaseToken: lease!.token, outcome, ...at });
      await clock.set(Math.max(cron.nextAt! + MINUTE, clock.now() + 10 * MINUTE) + 1);
      const report = await waybill.checks.run({ ...at, server: false });
      expect(report.failed).toEqual([]);
      expect(report.jobs).toMatchObject({ total: 1, healthy: 0 });
      expect(report.findings.map(({ check, subject }) => `${check} ${subject}`).sort()).toEqual([
        'dead-letters dead-letters',
        'late-crons cron:tick',
        'queue-age queue:mail',
        `running-jobs job:${stuck.id}`,
      ]);
      expect(await waybill.checks.run({ tenant: 'other' })).toMatchObject({ findings: [], jobs: { total: 0 } });
      expect(await waybill.checks.job(waiting.id, at)).toMatchObject({ state: 'available', health: null });
    });

    test('a heartbeat is a sign of life', async () => {
      const { server, clock } = await open();
      const waybill = server();
      const { job } = await waybill.jobs.enqueue(JOB);
      const [lease] = await waybill.jobs.claim({ queues: ['default'], leaseMs: 30_000, workerId: 'w1' });
      await clock.advance(20_000);
      await waybill.jobs.heartbeat({ workerId: 'w1', jobs: [{ id: job.id, leaseToken: lease!.token }] });
      await clock.advance(5 * MINUTE);
      expect(await waybill.checks.run()).toMatchObject({ findings: [], jobs: { total: 1, healthy: 1 } });
      await clock.advance(1);
      const [task] = (await waybill.checks.run()).tasks;
      expect(task).toMatchObject({ health: 'warning', silentMs: 5 * MINUTE + 1, lastEvent: 'job.heartbeat' });
    });

    test('5 servers open, escalate and close one incident', async () => {
      const { server, clock } = await open();
      const servers = Array.from({ length: 5 }, () => server());
      const [waybill] = servers as [Server];
      const { job } = await waybill.jobs.enqueue(JOB);
      const round = () => Promise.all(servers.map((one) => one.checks.round!()));
      for (const ms of [6 * MINUTE, 30 * MINUTE]) {
        await clock.advance(ms);
        await round();
        await round();
      }
      await waybill.jobs.cancel(job.id);
      await round();
      const subject = 'queue-age:queue:default';
      expect(await told(waybill)).toEqual([`opened ${subject}`, `escalated ${subject}`, `closed ${subject}`]);
    });

    test.each(['before', 'after'] as const)(
      'a server that dies %s any write leaves one incident and one event',
      async (when) => {
        const { server, clock } = await open();
        const first = server();
        const tenants = ['', 'b', 'c', 'd'];
        for (const tenant of tenants) await first.jobs.enqueue(JOB, { tenant });
        await clock.advance(6 * MINUTE);
        for (let call = 1; call <= tenants.length; call += 1) {
          const dying = server([{ method: 'records.put', call, when }]);
          await dying.checks.round!().catch(() => null);
        }
        await first.checks.round!();
        for (const tenant of tenants) expect(await told(first, tenant)).toEqual(['opened queue-age:queue:default']);
      },
    );
  });
}
