import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bench } from '../../testing/bench.ts';
import type { Batch } from '../delivery.ts';
import { Outbox, type OutboxParts } from './outbox.ts';

const batch = (sequence: number): Batch => ({
  entries: [{ sequence, at: 5, type: 'step', data: sequence }],
  critical: [sequence],
});

const keyOf = (id: string) => ({ tenant: '', id, run: 1, leaseToken: `1.${id}` });

/** Outboxes that share a folder and a server. */
async function outboxes() {
  const folder = await mkdtemp(path.join(tmpdir(), 'waybill-outbox-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const parts = bench();
  const sent: [string, number][] = [];
  const append = async ({ id, entries }: { id: string; entries: readonly { sequence: number }[] }) => {
    sent.push(...entries.map(({ sequence }): [string, number] => [id, sequence]));
    return { cut: 0 };
  };
  const outbox = (more: Partial<OutboxParts> = {}) => {
    const jobs = { append } as unknown as OutboxParts['jobs'];
    const counts = { stored: 0, dropped: 0 };
    const made = new Outbox(folder, { jobs, clock: parts.clock, logger: parts.logs, counts, ...more });
    onTestFinished(() => made.end());
    return made;
  };
  const walFiles = async () => (await readdir(folder)).filter((name) => name.endsWith('.wal'));
  return { folder, outbox, walFiles, sent, logs: parts.logs };
}

const DEAD = '.aaaaaaaaaaaa-7-000000000000.wal';
/** Names before and after that of every owner. */
const DEAD_ONES = ['.000000000000-7-000000000000.wal', '.ffffffffffff-7-000000000000.wal'];

describe('an outbox', () => {
  it('leaves the open files of another one in the process alone, and takes those that it left', async () => {
    const { outbox, walFiles, sent } = await outboxes();
    const first = outbox();
    const run = await first.open(keyOf('job-1'));
    await run.file.append(batch(1));
    await outbox().sendOrphans();
    expect([sent, await walFiles()]).toEqual([[], [expect.any(String)]]);
    await first.end();
    await run.leave();
    await outbox().sendOrphans();
    expect([sent, await walFiles()]).toEqual([[['job-1', 1]], []]);
  });

  // fault: a worker on another host takes this one for dead
  it.each(DEAD_ONES.flatMap((dead) => [['moveToLost', dead] as const, ['leave', dead] as const]))(
    'whose file was taken over can %s its run (%s)',
    async (end, dead) => {
      const { folder, outbox, walFiles, sent } = await outboxes();
      const first = outbox();
      const run = await first.open(keyOf('job-1'));
      await run.file.append(batch(1));
      const [name] = await walFiles();
      await rename(path.join(folder, name!), path.join(folder, name!.replace(/\.[^.]+\.wal$/, dead)));
      await first.end();
      await run[end]();
      await outbox().sendOrphans();
      expect(sent).toEqual(Array.from({ length: end === 'leave' ? 2 : 1 }, () => ['job-1', 1]));
      expect(await walFiles()).toEqual([]);
    },
  );

  // fault: a file has a bad sector, or belongs to another user; a folder cannot be opened either
  it('trap: a file that cannot be opened is reported once, and the others are sent', async () => {
    const { folder, outbox, walFiles, sent, logs } = await outboxes();
    await mkdir(path.join(folder, `~job-0~1~cccccccccccc${DEAD}`));
    const first = outbox();
    for (const id of ['job-1', 'job-2']) {
      const run = await first.open(keyOf(id));
      await run.file.append(batch(1));
      await first.end();
      await run.leave();
    }
    const second = outbox();
    await second.sendOrphans();
    await second.sendOrphans();
    expect(sent).toEqual([
      ['job-1', 1],
      ['job-2', 1],
    ]);
    expect(await walFiles()).toEqual([expect.stringContaining('job-0')]);
    const reports = logs.lines.filter(({ message }) => message.startsWith('A file in the outbox could not be sent.'));
    expect(reports.map(({ level, fields }) => [level, fields])).toMatchObject([
      ['error', { file: expect.stringContaining('job-0'), err: { code: 'EISDIR' } }],
      ['debug', {}],
    ]);
  });
});
