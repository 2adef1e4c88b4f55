import { describe, expect, onTestFinished, test } from 'vitest';
import { engine } from '../engine.ts';
import { REASON_CODES, type ReasonCode } from '../explain/codes.ts';
import { silentLogger } from '../logger.ts';
import { EXPLAIN_CASES, type ExplainWorld, NEEDS_DAMAGE, NEEDS_UPKEEP } from './explain-cases.ts';
import { temporaryBlobs } from './offloaded.ts';
import type { StoreFactory } from './store/bench.ts';

/** The loops of upkeep: both sleep where nothing is due. */
const LOOPS = 2;
const LEASE_MS = 30_000;
const BLOBS_FROM_BYTES = 1_000;

/** What each reason needs to be told, on a store of its own for each test. */
export function testExplain(name: string, factory: StoreFactory): void {
  describe(`reasons on ${name}`, () => {
    for (const code of REASON_CODES) {
      test(`a job is explained: ${code}`, async ({ skip }) => {
        const world = await openWorld(factory, { maintenance: NEEDS_UPKEEP.has(code) });
        skip(NEEDS_DAMAGE.has(code) && !world.damage, 'nothing but the store gets at its rows');
        const [id, expected] = await EXPLAIN_CASES[code](world);
        const { jobId, state, at, reasons } = await world.waybill.jobs.explain(id);
        const readable = code === 'unreadable' ? null : (await world.waybill.jobs.get(id).catch(() => null))?.state;
        expect([jobId, at]).toEqual([id, world.clock.now()]);
        if (readable !== undefined) expect(state).toBe(readable);
        expect(reasons.map((reason) => reason.code)).toContain(code);
        expect(reasons.find((reason) => reason.code === code)).toMatchObject(expected);
      });
    }

    test('a job that many things keep is told all of them', async () => {
      const world = await openWorld(factory);
      const { waybill, clock, enqueue, claim } = world;
      const limited = { queue: 'mail', rate_limit: { key: 'one', concurrency: 1 } };
      await enqueue(limited);
      await claim('mail');
      const id = await enqueue(limited);
      await waybill.queues.pause('mail');
      const later = await enqueue({ queue: 'mail', scheduled_at: new Date(clock.now() + 1_000).toISOString() });
      expect(await codesOf(world, id)).toEqual(['queue_paused', 'limit']);
      expect(await codesOf(world, later)).toEqual(['scheduled', 'queue_paused']);
    });
  });
}

const codesOf = async ({ waybill }: ExplainWorld, id: string): Promise<ReasonCode[]> =>
  (await waybill.jobs.explain(id)).reasons.map(({ code }) => code);

export async function openWorld(factory: StoreFactory, { maintenance = false } = {}): Promise<ExplainWorld> {
  const [{ store, clock, damage, close }, { blobs, remove }] = await Promise.all([factory(), temporaryBlobs()]);
  const waybill = engine({
    ...{ store, maintenance, logger: silentLogger, leaseMs: LEASE_MS },
    blobs: { store: blobs, threshold: BLOBS_FROM_BYTES },
  });
  onTestFinished(async () => {
    await waybill.close();
    await close();
    await remove();
  });
  const { jobs, workflows } = waybill;
  return {
    ...{ waybill, store, clock, blobs, ...(damage && { damage }) },
    enqueue: async (options = {}, args = []) => (await jobs.enqueue({ type: 'test.job', args, options })).job.id,
    claim: async (queue = 'default') => {
      const [lease] = await jobs.claim({ queues: [queue], workerId: 'worker-1' });
      if (lease === undefined) throw new Error('There was nothing to claim.');
      return lease;
    },
    settle: async ({ job, token }, outcome) => {
      await jobs.settle({ id: job.id, leaseToken: token, outcome });
      return job.id;
    },
    worker: async (workerId = 'worker-1') => void (await jobs.heartbeat({ workerId, jobs: [] })),
    upkeep: async (ms) => {
      for (const end = clock.now() + ms; clock.now() < end; ) {
        await clock.whenSleeping(LOOPS);
        await clock.advance(Math.min(1_000, end - clock.now()));
      }
      await clock.whenSleeping(LOOPS);
    },
    graph: async (nodes) => {
      const { id } = await workflows.create({
        nodes: nodes.map((node) => ('signal' in node ? node : { type: 'test.job', args: [], ...node })),
      });
      const { items } = await workflows.nodes(id);
      return { id, nodeId: (name) => items.find(({ node }) => node === name)!.id };
    },
  };
}
