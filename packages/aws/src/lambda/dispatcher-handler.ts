import { stderrLogger, WaybillError } from '@waybill/core';
import { type DeliveredEvent, eventIn } from '../event-bus/envelope.ts';
import type { BusEventType } from '../event-bus/event-types.ts';
import { type EngineHandlerOptions, functionEngine } from './function-engine.ts';

/** After these something of the job may begin or end. A rule of the bus should let through no others. */
export const DISPATCHED_ON: readonly BusEventType[] = [
  ...(['Task Completed', 'Task Failed', 'Task Timeout', 'Task Approved', 'Task Revision Requested'] as const),
  'Task Iteration Completed',
];

const TRIGGERS: ReadonlySet<string> = new Set(DISPATCHED_ON);

/**
 * A function at the event bus that carries a job on when a task of it has ended: starts what waited for it, and ends the job.
 * The event only says where to look; the rows say what is left to do. So events may come twice, late and in any order, and
 * any number of these functions may run at once.
 */
export function dispatcherHandler(options: EngineHandlerOptions) {
  const { logger = stderrLogger } = options;
  const opened = functionEngine(options);
  return async (delivered: DeliveredEvent): Promise<void> => {
    const event = eventIn(delivered);
    if (!event || !TRIGGERS.has(event.eventType)) return;
    const { rowId, jobId } = event.properties;
    // A task without a job has nothing that waits for it.
    if (rowId === undefined || jobId === undefined) return;
    const { engine, idle } = await opened();
    try {
      await engine.upkeep.advance(rowId, { tenant: event.tenantId });
    } catch (error) {
      if (!(error instanceof WaybillError && error.code === 'not_found')) throw error;
      logger.debug({ job: rowId }, 'The row of an event is gone: its job has ended long ago.');
    }
    await idle();
  };
}
