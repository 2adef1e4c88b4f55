import type { BlobStore } from '../../blobs/blob-store.ts';
import type { Json } from '../../json.ts';
import type { Waybill } from '../../waybill.ts';
import type { Damage } from '../store/bench.ts';
import type { TestClock } from '../test-clock.ts';

/** Where poison is planted. */
export interface Ground {
  waybill: Waybill;
  clock: TestClock;
  blobs: BlobStore;
  /** Absent where nothing but the store gets at its rows. */
  damage?: Damage;
}

export interface Spot {
  tenant: string;
  queue: string;
  /** Different for each one that is planted. */
  name: string;
}

/** The last moment that a job may wait for. */
const LAST_MOMENT = Date.UTC(2250, 0, 1);
/** More than the threshold of the tests, so that it is kept outside of the row. */
const LARGE = 'x'.repeat(2_000);

/** A time that can be reached now and cannot be half a minute later. */
const nearlyTooFar = ({ clock }: Ground): string => `+PT${Math.floor((LAST_MOMENT - clock.now()) / 1_000) - 30}S`;

const plain = ({ queue }: Spot, options: object = {}, type = 'test.poison') => ({
  type,
  args: [],
  options: { queue, ...options },
});

async function enqueue({ waybill }: Ground, spot: Spot, options: object = {}, args: Json[] = []): Promise<string> {
  const { tenant } = spot;
  const { job } = await waybill.jobs.enqueue({ ...plain(spot, options), args }, { tenant });
  return job.id;
}

type Plant = (ground: Ground, spot: Spot) => Promise<unknown>;

const damaged =
  (options: object): Plant =>
  async (ground, spot) => {
    const id = await enqueue(ground, spot, options);
    await ground.damage?.job({ tenant: spot.tenant, id });
  };

/** Settles a job of its own in a way that leads nowhere. */
const settled =
  (until: number): Plant =>
  async (ground, spot) => {
    const { waybill } = ground;
    const own = { ...spot, queue: `poison-${spot.name}` };
    await enqueue(ground, own);
    const [lease] = await waybill.jobs.claim({ queues: [own.queue], tenant: spot.tenant });
    const { job, token } = lease!;
    const outcome = { kind: 'snoozed', until } as const;
    await waybill.jobs.settle({ id: job.id, leaseToken: token, outcome, tenant: spot.tenant });
  };

export const POISONS = {
  'a row that cannot be read and is ready': damaged({}),
  'a row that cannot be read and is due later': damaged({ scheduled_at: '+PT5S' }),
  'a row that cannot be read and waits for a slot': async (ground, spot) => {
    const rate_limit = { key: `limit-${spot.name}`, concurrency: 1 };
    await enqueue(ground, spot, { rate_limit, scheduled_at: '+PT9H' });
    await damaged({ rate_limit })(ground, spot);
  },
  'a row that was leased to somebody and cannot be read since': async (ground, spot) => {
    const { waybill, damage } = ground;
    const { tenant } = spot;
    const queue = `poison-${spot.name}`;
    const id = await enqueue(ground, { ...spot, queue });
    await waybill.jobs.claim({ queues: [queue], tenant, leaseMs: 5_000 });
    await damage?.job({ tenant, id });
  },
  'a cron that cannot be read': async ({ waybill, damage }, spot) => {
    const { tenant, name } = spot;
    const job_template = plain(spot);
    await waybill.crons.put({ name, expression: '* * * * *', job_template }, { tenant });
    await damage?.cron({ tenant, name });
  },
  'a cron whose job cannot be made': async (ground, spot) => {
    const job_template = plain(spot, { scheduled_at: nearlyTooFar(ground) });
    const cron = { name: spot.name, expression: '* * * * *', job_template };
    await ground.waybill.crons.put(cron, { tenant: spot.tenant });
  },
  'a limit that cannot be read': async (ground, spot) => {
    const { tenant } = spot;
    const key = `limit-${spot.name}`;
    const rate_limit = { key, rate: { limit: 1, period: 'PT10S' } };
    for (let n = 0; n < 3; n += 1) await enqueue(ground, spot, { rate_limit, scheduled_at: '+PT2S' });
    await ground.damage?.limit({ tenant, key });
  },
  'a node that cannot be read': async (ground, spot) => {
    const { waybill, damage } = ground;
    const { tenant } = spot;
    const queue = `poison-${spot.name}`;
    const node = (id: string, depends_on: string[] = []) => ({ id, depends_on, ...plain({ ...spot, queue }) });
    const { id } = await waybill.workflows.create(
      { nodes: [node('a'), node('b', ['a']), node('c', ['a'])] },
      { tenant },
    );
    const { items } = await waybill.workflows.nodes(id, { limit: 9, tenant });
    await damage?.job({ tenant, id: items.find((one) => one.node === 'b')!.id });
    const [lease] = await waybill.jobs.claim({ queues: [queue], tenant });
    const outcome = { kind: 'completed', result: null } as const;
    await waybill.jobs.settle({ id: lease!.job.id, leaseToken: lease!.token, outcome, tenant });
  },
  'a workflow whose callback cannot be made': async (ground, spot) => {
    const on_complete = plain(spot, { scheduled_at: nearlyTooFar(ground) });
    const node = plain(spot, { scheduled_at: '+PT40S' });
    const flow = { type: 'batch', jobs: [node], callbacks: { on_complete } };
    await ground.waybill.workflows.create(flow, { tenant: spot.tenant });
  },
  'a payload whose blob is gone': async (ground, spot) => {
    const id = await enqueue(ground, spot, { scheduled_at: '+PT3S' }, [LARGE]);
    await ground.blobs.deletePrefix(`jobs/${id}/`);
  },
  'a pause of no number': (ground, spot) =>
    enqueue(ground, spot, {
      timeout_ms: 1_000,
      retry: { initial_interval: 'PT1S', backoff_strategy: 'polynomial', backoff_coefficient: 1_000, max_attempts: 9 },
    }),
  'a snooze until no moment': settled(Number.NaN),
  'a snooze without end': settled(Number.POSITIVE_INFINITY),
} satisfies Record<string, Plant>;

export type Poison = keyof typeof POISONS;
export const POISON_NAMES = Object.keys(POISONS) as Poison[];
