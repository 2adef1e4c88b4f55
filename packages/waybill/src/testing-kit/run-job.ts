import {
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
  inProcessRunner,
  type Middleware,
  RunControl,
  runTask,
} from '@waybill/worker';
import type { VirtualClock } from './virtual-clock.ts';

export interface RunParts {
  port: Waybill;
  clock: VirtualClock;
  tasks: ReadonlyMap<string, AnyTask>;
  middleware: readonly Middleware[];
  logger: Logger;
  /** Real time that a handler may take before its timeout comes. */
  handlerMs: number;
}

const MAX_RESULT_BYTES = 1_048_576;
/** Whatever runner a task names: a test runs its handler in its own process, one at a time. */
const runner = inProcessRunner({ concurrency: 1 });

/** One claimed job through the same pipeline as in a worker, on the test's own time. */
export async function runJob(lease: Lease, parts: RunParts): Promise<Ended> {
  const over = new AbortController();
  const run = runOnce(lease, parts).finally(() => over.abort());
  const timeoutMs = lease.job.timeoutMs ?? parts.tasks.get(lease.job.type)?.policy.timeout;
  // A handler that waits for ever would hold up the test for ever: its timeout is in time that stands still.
  if (timeoutMs !== undefined)
    void systemClock.sleep(parts.handlerMs, over.signal).then(() => {
      if (!over.signal.aborted) void parts.clock.advance(timeoutMs);
    });
  return run;
}

function runOnce(lease: Lease, { port, clock, tasks, middleware, logger }: RunParts): Promise<Ended> {
  const control = new RunControl(clock.monotonic());
  const facts = { workerId: 'test', maxResultBytes: MAX_RESULT_BYTES };
  const parts = { jobs: port.jobs, clock, logger, runner, middleware, ...facts };
  return execute(
    { lease },
    {
      tasks,
      onUnknown: ({ lease: { job } }) => {
        const message = `There is no task '${job.type}' in this test.`;
        logger.warn({ job: job.id }, message);
        return { code: UNKNOWN_TYPE, message };
      },
      run: (validated) => runTask(validated, control, parts),
      settle: async (ended) => {
        if (ended.outcome !== null) await settle(port, lease, ended.outcome);
        return ended;
      },
    },
  );
}

/** The engine times runs out as well, and both do it at the same moment: whoever is late has nothing to add. */
async function settle(port: Waybill, { job, token }: Lease, outcome: Outcome): Promise<void> {
  try {
    await port.jobs.settle({ id: job.id, tenant: job.tenant, leaseToken: token, outcome });
  } catch (error) {
    if (!(error instanceof WaybillError && error.code === 'lease_lost')) throw error;
  }
}
