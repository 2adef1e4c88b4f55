import { WaybillError } from '@waybill/core';
import { type DeliveredEvent, eventIn } from '../event-bus/envelope.ts';
import { type EngineHandlerOptions, functionEngine } from './function-engine.ts';

/**
 * A function at the event bus that sends the hint of each task that becomes pending, for stores whose producers may write
 * rows and send no messages. A task that was claimed meanwhile is not hinted at.
 */
export function taskEnqueuerHandler(options: EngineHandlerOptions) {
  const opened = functionEngine(options);
  return async (delivered: DeliveredEvent): Promise<void> => {
    const event = eventIn(delivered);
    const { rowId } = event?.properties ?? {};
    if (event?.eventType !== 'Task Pending' || rowId === undefined) return;
    const { engine, idle } = await opened();
    await engine.upkeep.hint(rowId, { tenant: event.tenantId }).catch((error: unknown) => {
      if (!(error instanceof WaybillError && error.code === 'not_found')) throw error;
    });
    await idle();
  };
}
