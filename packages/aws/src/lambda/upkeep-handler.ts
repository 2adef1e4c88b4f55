import { type PassReport, stderrLogger } from '@waybill/core';
import { type EngineHandlerOptions, functionEngine } from './function-engine.ts';
import type { LambdaContext } from './lambda-types.ts';

export interface UpkeepHandlerOptions extends EngineHandlerOptions {
  /**
   * How long one invocation waits for what becomes due after its first look. 0: it ends at once, so that a schedule of a
   * minute delays a retry by up to a minute. 50_000 with such a schedule does what a server does all the time.
   * @defaultValue 0
   */
  forMs?: number;
}

/** So much of an invocation's time is left for what is under way when it ends. */
const LAST_MS = 10_000;

/**
 * A scheduled function that does what the loops of a server do: schedules, retries, lost leases, timeouts, crons, workflows
 * whose worker has died, and what is too old. Any number of them may run at once, beside servers too.
 */
export function upkeepHandler(options: UpkeepHandlerOptions) {
  const { forMs = 0, logger = stderrLogger } = options;
  const opened = functionEngine(options);
  return async (_event: unknown, context: LambdaContext): Promise<PassReport> => {
    const { engine, idle } = await opened();
    const leftMs = Math.max(0, context.getRemainingTimeInMillis() - LAST_MS);
    const over = AbortSignal.timeout(Math.max(1, leftMs));
    const report = await engine.upkeep.run({ forMs: Math.min(forMs, leftMs), signal: over });
    await idle();
    logger.debug({ ...report }, 'Upkeep has ended.');
    return report;
  };
}
