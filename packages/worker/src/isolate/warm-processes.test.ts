import { expect, onTestFinished, test, vi } from 'vitest';
import { task } from '../task.ts';
import { LogBook } from '../testing/bench.ts';
import { resolveIsolate } from './isolate-options.ts';
import { listPids, readMark, readStat } from './process/proc-files.ts';
import { WarmProcesses } from './warm-processes.ts';

const isolate = { module: new URL('./testing/echoing-module.ts', import.meta.url), warm: 1 };

/** Children of this process that belong to a run. */
async function children(): Promise<number[]> {
  const own = (listPids() ?? []).filter((pid) => readStat(pid)?.parent === process.pid);
  const marks = await Promise.all(own.map(readMark));
  return own.filter((_, at) => marks[at]);
}

// fault: a process that waits for a run is killed, as for want of memory
test.skipIf(listPids() === null)('a process that died while it waited is not given a run', async () => {
  const logger = new LogBook();
  const parts = { logger, abortMs: 100, killAfterMs: 100, stopMs: null, label: () => '', maxResultBytes: 1_000 };
  const start = { isolate: resolveIsolate(isolate), parts, task: task('isolate.echo', { isolate }) };
  const processes = new WarmProcesses(start, logger);
  onTestFinished(() => processes.stop());
  const [pid] = await vi.waitFor(async () => {
    const found = await children();
    expect(found).toHaveLength(1);
    return found;
  });
  process.kill(pid!, 'SIGKILL');
  // In one turn of the event loop, so that this process cannot hear of the death before the run begins.
  while (readStat(pid!)?.zombie === false);
  const taken = await processes.take(start as never);
  expect(taken.process.pid).not.toBe(pid);
  expect(taken.process.isRunning).toBe(true);
  taken.process.kill('cancelled');
  await taken.process.ended;
  await taken.clear();
});
