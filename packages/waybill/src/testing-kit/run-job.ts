import {
  type AppendCall,
  type Appended,
  type JournalEntry,
  type Lease,
  type Logger,
  type Outcome,
  systemClock,
  UNKNOWN_TYPE,
  type Waybill,
  WaybillError,
} from '@waybill/core';
import {
  type AnyTask,
  type Ended,
  execute,
  type FileStore,
  Journaling,
  type Middleware,
  RunControl,
  runTask,
} from '@waybill/worker';
import { type IsolatedRuns, KitRunner } from './kit-runner.ts';
import type { VirtualClock } from './virtual-clock.ts';

export interface RunParts {
  port: Waybill;
  clock: VirtualClock;
  tasks: ReadonlyMap<string, AnyTask>;
  middleware: readonly Middleware[];
  logger: Logger;
  isolated: IsolatedRuns;
  files: FileStore;
  /** Real time that a handler may take before its timeout comes. */
  handlerMs: number;
}

const MAX_RESULT_BYTES = 1_048_576;
const LEASE_MS = 30_000;

/** What a run came to, and what it has said. */
export interface RanOnce extends Ended {
  entries: JournalEntry[];
}

/** One claimed job through the same pipeline as in a worker, on the test's own time. */
export async function runJob(lease: Lease, parts: RunParts): Promise<RanOnce> {
  const over = new AbortController();
  const runner = new KitRunner(parts.isolated);
  const run = runOnce(lease, runner, parts).finally(() => over.abort());
  const timeoutMs = lease.job.timeoutMs ?? parts.tasks.get(lease.job.type)?.policy.timeout;
  if (timeoutMs !== undefined) void endByTimeout(timeoutMs, runner, parts, over.signal);
  return run;
}

/**
 * A handler that waits for ever would hold up the test for ever: its timeout is in time that stands still. A process works in
 * real time, so it has all of its timeout.
 */
async function endByTimeout(
  timeoutMs: number,
  runner: KitRunner,
  { handlerMs, clock }: RunParts,
  over: AbortSignal,
): Promise<void> {
  await systemClock.sleep(handlerMs, over);
  if (runner.isProcess) await systemClock.sleep(Math.max(0, timeoutMs - handlerMs), over);
  if (!over.aborted) await clock.advance(timeoutMs);
}

async function runOnce(lease: Lease, runner: KitRunner, parts: RunParts): Promise<RanOnce> {
  const { port, clock, tasks, middleware, logger, files } = parts;
  const control = new RunControl(clock.monotonic());
  const facts = { workerId: 'test', maxResultBytes: MAX_RESULT_BYTES };
  const entries: JournalEntry[] = [];
  const journaling = new Journaling({
    jobs: { append: (call) => heard(port, lease, call, entries) },
    ...{ clock, logger, tasks, leaseMs: LEASE_MS },
    // A test needs no folder on the disk; what the task says is the same.
    withoutOutbox: true,
    onLeaseLost: (run) => run.abort(new WaybillError('lease_lost', `The lease of job ${lease.job.id} was lost.`)),
  });
  const running = { jobs: port.jobs, clock, logger, runner, middleware, journaling, files, ...facts };
  const ended = await execute(
    { lease },
    {
      tasks,
      onUnknown: ({ lease: { job } }) => {
        const message = `There is no task '${job.type}' in this test.`;
        logger.warn({ job: job.id }, message);
        return { code: UNKNOWN_TYPE, message };
      },
      run: (validated) => runTask(validated, control, running),
      settle: async (ended) => {
        if (ended.outcome !== null) await settle(port, lease, ended.outcome);
        return ended;
      },
    },
  );
  return { ...ended, entries };
}

/** Kept in the journal of the test's engine as well, where its store has one. */
async function heard(port: Waybill, { job }: Lease, call: AppendCall, entries: JournalEntry[]): Promise<Appended> {
  const head = entries.at(-1)?.sequence ?? 0;
  const fresh = call.entries.filter(({ sequence }) => sequence > head);
  let answer: Appended = { run: job.run, stored: fresh.length, head: fresh.at(-1)?.sequence ?? head, cut: 0 };
  try {
    answer = await port.jobs.append(call);
  } catch (error) {
    if (!(error instanceof WaybillError && error.code === 'unsupported')) throw error;
  }
  entries.push(...fresh.map(({ at = 0, ...entry }) => ({ run: job.run, at, ...entry })));
  return answer;
}

/** The engine times runs out as well, and both do it at the same moment: whoever is late has nothing to add. */
async function settle(port: Waybill, { job, token }: Lease, outcome: Outcome): Promise<void> {
  try {
    await port.jobs.settle({ id: job.id, tenant: job.tenant, leaseToken: token, outcome });
  } catch (error) {
    if (!(error instanceof WaybillError && error.code === 'lease_lost')) throw error;
  }
}
