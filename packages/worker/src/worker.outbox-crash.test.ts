import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AppendCall } from '@waybill/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Outbox } from './journal/outbox/outbox.ts';
import { task } from './task.ts';
import { type Bench, bench, gate } from './testing/bench.ts';
import { entriesOf } from './testing/journal-bench.ts';
import type { ToChild, ToParent } from './testing/outbox-child.ts';

const CHILD = fileURLToPath(new URL('./testing/outbox-child.ts', import.meta.url));
const STEPS = Array.from({ length: 200 }, (_, index) => index + 1);

async function folderOf(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'waybill-outbox-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const walFiles = async (folder: string) => (await readdir(folder)).filter((name) => name.endsWith('.wal'));

/** As containers have them: process ids of its own, and the same host name. The process dies with `unshare`. */
const UNSHARE = ['--pid', '--fork', '--mount-proc', '--kill-child'];
const hasContainers = spawnSync('unshare', [...UNSHARE, 'true']).status === 0;
const IN_CONTAINER = { execPath: 'unshare', execArgv: [...UNSHARE, process.execPath] };

/** A process that works for the engine of the test; `away` says which of its appends are refused. */
function started(
  parts: Bench,
  folder: string,
  does: string,
  away: (call: AppendCall) => boolean = () => false,
  place: { execPath?: string; execArgv?: string[] } = {},
) {
  const child = fork(CHILD, [folder, does], {
    ...place,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    serialization: 'advanced',
  });
  onTestFinished(() => killed(child));
  const told = gate<string>();
  child.on('message', async (message: ToParent) => {
    if (message.kind === 'told') return told.open(message.what);
    const { number, method, args } = message;
    const reply = (answer: Omit<ToChild, 'number'>) => {
      if (child.connected) child.send({ number, ...answer } satisfies ToChild);
    };
    if (method === 'append' && away(args as AppendCall))
      return reply({ error: { code: 'unavailable', message: 'The server is away.' } });
    const work = parts.jobs[method as 'append'] as (given: unknown) => Promise<unknown>;
    reply({ answer: await work(args) });
  });
  return { child, told: told.opened };
}

/** SIGKILL: nothing of it runs any more when this resolves. */
async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

const loud = task('loud.one', { run: () => {} });

describe('an outbox survives the crash of its worker', () => {
  // fault: the server goes away in the middle of a run, and then the worker is killed
  it('every entry that was safe is stored by the next worker, once and in order', async () => {
    const parts = bench();
    const folder = await folderOf();
    const job = await parts.add(loud);
    const { child, told } = started(parts, folder, 'speak', ({ entries }) => entries[0]!.sequence > 20);
    await told;
    await killed(child);
    const before = await entriesOf(parts, job.id);
    expect(before.length).toBeGreaterThan(0);
    expect(before.length).toBeLessThan(200);
    expect(await walFiles(folder)).toHaveLength(1);
    const worker = parts.work([task('other.one', { queue: 'other', run: () => {} })], { outbox: folder });
    await parts.logs.said('Entries that an earlier worker had left were stored.');
    const entries = await entriesOf(parts, job.id);
    expect(entries.map(({ run, sequence, data }) => [run, sequence, data])).toEqual(
      STEPS.map((step) => [1, step, step]),
    );
    expect(worker.said.stored).toBeGreaterThanOrEqual(200 - before.length);
    expect(await walFiles(folder)).toEqual([]);
  });

  it('what a living worker has in the folder is left to it, until it is dead', async () => {
    const parts = bench();
    const folder = await folderOf();
    const job = await parts.add(loud);
    const { child, told } = started(parts, folder, 'speak', () => true);
    await told;
    const counts = { stored: 0, dropped: 0 };
    const outbox = new Outbox(folder, { ...parts, jobs: parts.jobs, logger: parts.logs, counts });
    onTestFinished(() => outbox.end());
    await outbox.sendOrphans();
    expect([counts.stored, await entriesOf(parts, job.id)]).toEqual([0, []]);
    await killed(child);
    await outbox.sendOrphans();
    expect([counts.stored, (await entriesOf(parts, job.id)).length]).toEqual([200, 200]);
  });

  // fault: two containers have one host name and one volume, and the worker of each has the process id 1
  it.skipIf(!hasContainers && process.env['CI'] !== 'true')(
    'what a worker has in a container of the same host name is left to it, until it is dead',
    async () => {
      const parts = bench();
      const folder = await folderOf();
      const job = await parts.add(loud);
      const { child, told } = started(parts, folder, 'speak', () => true, IN_CONTAINER);
      await told;
      const [name] = await walFiles(folder);
      expect(name).toMatch(/\.[0-9a-f]{12}-1-[0-9a-f]{12}-[0-9a-f]{12}\.wal$/);
      const send = () => started(parts, folder, 'send-orphans', () => false, IN_CONTAINER).told;
      expect([await send(), await walFiles(folder)]).toEqual(['sent 0', [name]]);
      const ended = once(child, 'disconnect');
      await Promise.all([killed(child), ended]);
      expect([await send(), await walFiles(folder)]).toEqual(['sent 200', []]);
      expect(await entriesOf(parts, job.id)).toHaveLength(200);
    },
  );

  it('of several workers that start at once, one sends a file', async () => {
    const parts = bench();
    const folder = await folderOf();
    const job = await parts.add(loud);
    const first = started(parts, folder, 'speak', () => true);
    await first.told;
    await killed(first.child);
    const sent: number[] = [];
    const counting = ({ entries }: AppendCall) => {
      sent.push(...entries.map(({ sequence }) => sequence));
      return false;
    };
    const all = [1, 2].map(() => started(parts, folder, 'send-orphans', counting));
    const told = await Promise.all(all.map((one) => one.told));
    expect(told.sort()).toEqual(['sent 0', 'sent 200']);
    expect(sent).toEqual(STEPS);
    expect(await entriesOf(parts, job.id)).toHaveLength(200);
  });
});
