import type { Events } from '@waybill/core';
import { describe, expect, it } from 'vitest';
import { task } from './task.ts';
import { type Bench, bench, gate } from './testing/bench.ts';

/** No heartbeat comes by itself within these tests. */
const FAR = { leaseMs: 7_200_000, heartbeatMs: 3_600_000 };

/** A task whose runs last until they are aborted or let go; the n-th run is aborted at the n-th gate. */
function heldTask(name = 'held.one') {
  const release = gate<string>();
  const aborted = [gate<unknown>(), gate<unknown>()];
  let runs = 0;
  const held = task(name, {
    run: (_, { signal }) => {
      const mine = aborted[runs];
      runs += 1;
      signal.addEventListener('abort', () => mine?.open(signal.reason));
      return release.opened;
    },
  });
  return { held, release, aborted };
}

/** The log as a worker sees it, with an eye on how it is read. */
function watched({ waybill: { events } }: Bench) {
  const readers: AbortSignal[] = [];
  const follow: Events['follow'] = (query) => {
    readers.push(query.signal);
    return events.follow(query);
  };
  return { readers, events: { end: () => events.end(), follow } };
}

describe('a handler hears that its run is over', () => {
  it('at once, when its job is cancelled', async () => {
    const made = bench();
    const { work, add, happened, clock, waybill, settled } = made;
    const { events, readers } = watched(made);
    const { held, aborted } = heldTask();
    const worker = work([held], { ...FAR, events });
    const job = await add(held);
    await happened(job.id, 'job.started');
    await clock.advance(1_000);
    expect(readers).toHaveLength(1);
    await waybill.jobs.cancel(job.id);
    expect(await aborted[0]!.opened).toMatchObject({ code: 'lease_lost' });
    await clock.advance(500);
    expect(worker.running).toBe(0);
    expect(settled).toEqual([]);
  });

  it('soon, when that happened before anybody followed the log', async () => {
    const { work, add, happened, clock, waybill } = bench();
    const { held, aborted } = heldTask();
    work([held], { ...FAR, events: waybill.events });
    const job = await add(held);
    await happened(job.id, 'job.started');
    await waybill.jobs.cancel(job.id);
    await clock.advance(1_000);
    expect(await aborted[0]!.opened).toMatchObject({ code: 'lease_lost' });
  });

  it('but not of the end of an older run of its job', async () => {
    const { work, add, happened, clock, waybill, jobs } = bench();
    const { held, release, aborted } = heldTask();
    work([held], { ...FAR, events: waybill.events, concurrency: 2 });
    const other = await add(held);
    await happened(other.id, 'job.started');
    await clock.advance(1_000);
    const job = await add(held);
    await happened(job.id, 'job.started');
    // By somebody without a token: the run is taken away, and the same worker gets the job again.
    await jobs.settle({ id: job.id, outcome: { kind: 'requeued' } });
    expect(await aborted[1]!.opened).toMatchObject({ code: 'lease_lost' });
    await happened(job.id, 'job.started', 2);
    release.open('second');
    expect(await happened(job.id, 'job.completed')).toMatchObject({ run: 2, result: 'second' });
  });

  it('by a heartbeat, where the log cannot be followed', async () => {
    const { work, add, happened, clock, waybill, logs } = bench();
    const { held, aborted } = heldTask();
    const end = () => Promise.reject(new Error('away'));
    work([held], { events: { ...waybill.events, end } });
    const job = await add(held);
    await happened(job.id, 'job.started');
    await clock.advance(5_000);
    await waybill.jobs.cancel(job.id);
    await clock.advance(20_000);
    expect(await aborted[0]!.opened).toMatchObject({ code: 'lease_lost' });
    const told = logs.warnings().filter((line) => line.startsWith('Events cannot be followed'));
    expect(told).toHaveLength(1);
  });
});

describe('the log is followed', () => {
  it('by no worker whose runs are short', async () => {
    const made = bench();
    const { work, add, happened, clock } = made;
    const { events, readers } = watched(made);
    const quick = task('quick.one', { run: () => 'done' });
    work([quick], { events });
    for (let n = 0; n < 20; n += 1) {
      const { id } = await add(quick);
      await happened(id, 'job.completed');
      await clock.advance(100);
    }
    expect(readers).toEqual([]);
  });

  it('no longer than runs need it, and again when they do', async () => {
    const made = bench();
    const { work, add, happened, clock } = made;
    const { events, readers } = watched(made);
    const rounds = [heldTask('held.first'), heldTask('held.second')];
    work(
      rounds.map(({ held }) => held),
      { events },
    );
    for (const [round, { held, release }] of rounds.entries()) {
      const { id } = await add(held);
      await happened(id, 'job.started');
      await clock.advance(15_000);
      expect(readers.map(({ aborted }) => aborted)).toEqual(round === 0 ? [false] : [true, false]);
      release.open('fine');
      await happened(id, 'job.completed');
      await clock.advance(11_000);
      expect(readers.at(-1)!.aborted).toBe(true);
    }
  });
});
