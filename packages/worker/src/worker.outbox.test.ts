import { mkdtemp, open, readdir, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Lease, WaybillError } from '@waybill/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { RunControl } from './execute/run-control.ts';
import { Journaling, type JournalingParts } from './journal/journaling.ts';
import { Outbox } from './journal/outbox/outbox.ts';
import { emitted, printed } from './journal/pending-entry.ts';
import { type AnyTask, task } from './task.ts';
import { type Bench, bench, gate } from './testing/bench.ts';
import { AWAY, appending, entriesOf, passing, text } from './testing/journal-bench.ts';

async function folderOf(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'waybill-outbox-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const walFiles = async (folder: string) => (await readdir(folder)).filter((name) => name.endsWith('.wal'));

/** The journals of runs without a worker around them: so a test can leave one in the middle. */
async function journaling(parts: Bench, folder: string, more: Partial<JournalingParts> = {}) {
  const loud = task('loud.one', { outbox: folder, run: () => {} });
  const tasks = new Map<string, AnyTask>([[loud.name, loud]]);
  const lost = gate();
  const all = new Journaling({
    ...{ jobs: parts.jobs, clock: parts.clock, logger: parts.logs, tasks, leaseMs: 30_000 },
    onLeaseLost: () => lost.open(),
    ...more,
  });
  onTestFinished(() => all.end());
  const begin = async (lease?: Lease) => {
    if (!lease) await parts.enqueue();
    const own: Lease = lease ?? (await parts.claimOne());
    return { lease: own, run: all.open(own, new RunControl(0), loud) };
  };
  return { all, begin, lost: lost.opened };
}

/** Opens files on a disk that may be full. */
function opening(disk: { isFull: boolean }): NonNullable<JournalingParts['openFile']> {
  return async (at, flags, mode) => {
    const file = await open(at, flags, mode);
    const write = file.write.bind(file) as (...args: unknown[]) => Promise<{ bytesWritten: number }>;
    file.write = ((...args: unknown[]) =>
      disk.isFull ? Promise.reject(Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' })) : write(...args)) as never;
    return file;
  };
}

const said = (line: string) => printed(line, {}, 1);
const critical = (step: number) => emitted('step.done', step, { critical: true }, 1);

describe('with an outbox', () => {
  it('what is said in an outage is stored after it, more than memory may hold, before the run is settled', async () => {
    const parts = bench();
    const folder = await folderOf();
    let isAway = true;
    const spoken = gate();
    const tried = gate();
    const { jobs } = appending(parts, () => {
      tried.open();
      return isAway ? Promise.reject(AWAY()) : undefined;
    });
    const busy = task('busy.one', {
      outbox: folder,
      journal: { maxWaitingBytes: 65_536 },
      run: async (_, { output, emit }) => {
        for (let block = 0; block < 10; block += 1) {
          for (let line = 0; line < 40; line += 1) output('x'.repeat(1_000));
          await emit('block.done', block, { critical: true });
        }
        spoken.open();
      },
    });
    const worker = parts.work([busy], { jobs });
    const job = await parts.add(busy);
    await Promise.all([spoken.opened, tried.opened]);
    expect([parts.settled, await walFiles(folder)]).toEqual([[], [expect.stringMatching(`^~${job.id}~1~`)]]);
    isAway = false;
    await passing(parts, 100, parts.happened(job.id, 'job.completed'));
    const entries = await entriesOf(parts, job.id);
    expect(entries.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 410 }, (_, index) => index + 1));
    expect(worker.said).toEqual({ stored: 410, dropped: 0 });
    expect([await walFiles(folder), parts.logs.warnings()]).toEqual([[], []]);
  });

  it('trap: a batch counts as sent when the server has answered for it, not when it was handed over', async () => {
    const parts = bench();
    const folder = await folderOf();
    let isAway = true;
    const handedOver = gate();
    const { jobs, calls } = appending(parts, () => {
      handedOver.open();
      return isAway ? new Promise<never>(() => {}) : undefined;
    });
    const { all, begin } = await journaling(parts, folder, { jobs });
    const { lease, run } = await begin();
    await run.addCritical(critical(1), 1_000);
    await handedOver.opened;
    // Counted at its end: what it leaves in the outbox is tried again from then on.
    const ended = run.end(1_000, false).then((error) => ({ error, calls: calls.length }));
    expect(await passing(parts, 100, ended, 2_000)).toMatchObject({ error: { code: 'unavailable' }, calls: 1 });
    // It is in the outbox still.
    expect(all.counts.dropped).toBe(0);
    isAway = false;
    all.start();
    await passing(parts, 100, parts.logs.said('an earlier worker had left'));
    expect((await entriesOf(parts, lease.job.id)).map(text)).toEqual([1]);
  });

  it('trap: what an earlier run has left is not sent as the next one’s, and hides nothing of it', async () => {
    const parts = bench();
    const folder = await folderOf();
    const { jobs } = appending(parts, () => new Promise<never>(() => {}));
    const before = await journaling(parts, folder, { jobs });
    const { lease, run } = await before.begin();
    await run.addCritical(critical(1), 1_000);
    await run.addCritical(critical(2), 1_000);
    const ended = run.end(1_000, false);
    await passing(parts, 100, ended, 2_000);
    await before.all.end();
    // The worker is gone, its lease runs out, and the job is run again.
    const again = parts.waybill.jobs.claim({ queues: ['default'], waitMs: 600_000 });
    const [second] = await passing(parts, 1_000, again, 600_000);
    expect(second!.job).toMatchObject({ id: lease.job.id, run: 2 });
    const { all, begin } = await journaling(parts, folder);
    all.start();
    const { run: next } = await begin(second!);
    next.add(said('of the second run'));
    expect(await next.end(1_000, false)).toBeNull();
    await parts.logs.said(`2 entries of run 1 of job ${lease.job.id} were not stored`);
    expect((await entriesOf(parts, lease.job.id)).map((one) => [one.run, one.sequence, text(one)])).toEqual([
      [2, 1, 'of the second run'],
    ]);
    expect([await walFiles(folder), (await readdir(path.join(folder, 'lost'))).length]).toEqual([[], 1]);
    expect(all.counts).toEqual({ stored: 1, dropped: 2 });
  });

  it('a run whose lease is lost ends, and what it could not send is moved away', async () => {
    const parts = bench();
    const folder = await folderOf();
    const reasons: string[] = [];
    const onDropped = (entries: number, reason: string) => void reasons.push(`${entries} ${reason}`);
    const { all, begin, lost } = await journaling(parts, folder, { onDropped });
    const { lease, run } = await begin();
    await parts.waybill.jobs.cancel(lease.job.id);
    run.add(said('too late'));
    await parts.clock.advance(200);
    await lost;
    await run.end(1_000, false);
    expect(await parts.logs.said('1 entries of run 1')).toMatchObject({ level: 'warn', fields: { entries: 1 } });
    expect([all.counts.dropped, reasons]).toEqual([1, ['1 lease_lost']]);
    expect([await walFiles(folder), (await readdir(path.join(folder, 'lost'))).length]).toEqual([[], 1]);
  });

  // fault: a worker on another host dies after this one has started
  it('trap: what a worker leaves later on is found without a new start', async () => {
    const parts = bench();
    const folder = await folderOf();
    const { jobs } = appending(parts, () => new Promise<never>(() => {}));
    const before = await journaling(parts, folder, { jobs });
    const { lease, run } = await before.begin();
    await run.addCritical(critical(1), 1_000);
    // Ended first, so that what it leaves is not looked for.
    await before.all.end();
    await passing(parts, 100, run.end(1_000, false), 2_000);
    const owner = 'aaaaaaaaaaaa-7-000000000000';
    const [name] = await walFiles(folder);
    await rename(path.join(folder, name!), path.join(folder, name!.replace(/\.[^.]+\.wal$/, `.${owner}.wal`)));
    const alive = path.join(folder, `${owner}.alive`);
    await writeFile(alive, '');
    const counts = { stored: 0, dropped: 0 };
    const outbox = new Outbox(folder, { jobs: parts.jobs, clock: parts.clock, logger: parts.logs, counts });
    onTestFinished(() => outbox.end());
    outbox.start();
    await outbox.sendOrphans();
    expect(await walFiles(folder)).toEqual([expect.stringContaining(owner)]);
    await utimes(alive, new Date(0), new Date(0));
    await passing(parts, 1_000, parts.logs.said('an earlier worker had left'));
    expect((await entriesOf(parts, lease.job.id)).map(text)).toEqual([1]);
    expect([counts, await walFiles(folder)]).toEqual([{ stored: 1, dropped: 0 }, []]);
  });

  // fault: the lease is lost while the disk is slow
  it('trap: a refusal while a batch is being written leaves nothing behind it waiting or uncounted', async () => {
    const parts = bench();
    const folder = await folderOf();
    const sent = gate();
    const writing = gate();
    const refused = gate<never>();
    const written = gate();
    const { jobs } = appending(parts, () => {
      sent.open();
      return refused.opened;
    });
    let isSlow = false;
    const openFile: JournalingParts['openFile'] = async (at, flags, mode) => {
      const file = await open(at, flags, mode);
      const datasync = file.datasync.bind(file);
      file.datasync = async () => {
        if (isSlow) {
          writing.open();
          await written.opened;
        }
        await datasync();
      };
      return file;
    };
    const { all, begin, lost } = await journaling(parts, folder, { jobs, openFile });
    const { run } = await begin();
    await run.addCritical(critical(1), 1_000);
    await sent.opened;
    isSlow = true;
    void run.addCritical(critical(2), 1_000);
    await writing.opened;
    let behind = 'pending';
    run.addCritical(critical(3), 1_000).catch(() => {
      behind = 'rejected';
    });
    run.add(said('too late'));
    refused.open(Promise.reject(new WaybillError('lease_lost', 'no')) as never);
    await lost;
    written.open();
    expect(await run.end(1_000, false)).toMatchObject({ code: 'unavailable' });
    expect([behind, all.counts]).toEqual(['rejected', { stored: 0, dropped: 4 }]);
  });

  it('trap: entries that no server takes are replaced, and the rest of the file is sent', async () => {
    const parts = bench();
    const folder = await folderOf();
    const { jobs } = appending(parts, ({ entries }) =>
      entries.some(({ data }) => data === 2) ? Promise.reject(new WaybillError('payload_too_large', 'no')) : undefined,
    );
    const { begin } = await journaling(parts, folder, { jobs });
    const { lease, run } = await begin();
    for (const step of [1, 2, 3]) run.add([emitted('step.done', step, {}, 1)]);
    expect(await run.end(1_000, false)).toBeNull();
    expect((await entriesOf(parts, lease.job.id)).map(({ sequence, type }) => [sequence, type])).toEqual([
      [1, 'step.done'],
      [2, 'journal.dropped'],
      [3, 'step.done'],
    ]);
  });

  // fault: the disk takes nothing for a while
  it('a full disk: best effort is dropped and told of, a critical entry fails, and the numbers have no gap', async () => {
    const parts = bench();
    const folder = await folderOf();
    const disk = { isFull: false };
    const openFile = opening(disk);
    const { begin, all } = await journaling(parts, folder, { openFile });
    const { lease, run } = await begin();
    await run.addCritical(critical(1), 1_000);
    disk.isFull = true;
    run.add(said('lost'));
    await expect(run.addCritical(critical(2), 1_000)).rejects.toThrow('the disk is full');
    disk.isFull = false;
    await run.addCritical(critical(3), 1_000);
    expect(await run.end(1_000, false)).toMatchObject({ message: expect.stringContaining('the disk is full') });
    const entries = await entriesOf(parts, lease.job.id);
    expect(entries.map(({ sequence, type, data }) => [sequence, type, data])).toMatchObject([
      [1, 'step.done', 1],
      [2, 'step.done', 3],
      [3, 'journal.dropped', { entries: 2, reason: 'outbox_failed' }],
    ]);
    expect(all.counts.dropped).toBe(2);
    expect(parts.logs.warnings()).toEqual(["Entries of task 'test.job' were not stored."]);
  });

  // fault: the disk takes nothing until the run is over
  it('trap: a disk that stays full: the end of the run reports what was dropped, past the disk', async () => {
    const parts = bench();
    const folder = await folderOf();
    const disk = { isFull: false };
    const openFile = opening(disk);
    const { begin, all } = await journaling(parts, folder, { openFile });
    const { lease, run } = await begin();
    await run.addCritical(critical(1), 1_000);
    disk.isFull = true;
    run.add(said('lost'));
    run.add(said('lost too'));
    expect(await run.end(1_000, false)).toBeNull();
    const entries = await entriesOf(parts, lease.job.id);
    expect(entries.map(({ sequence, type, data }) => [sequence, type, data])).toMatchObject([
      [1, 'step.done', 1],
      [2, 'journal.dropped', { entries: 2, reason: 'outbox_failed' }],
    ]);
    expect([all.counts.dropped, await walFiles(folder)]).toEqual([2, []]);
  });
});
