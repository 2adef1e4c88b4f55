import { type Logger, stderrLogger } from '@waybill/core';
import { type DeliveredEvent, eventIn } from '../event-bus/envelope.ts';
import type { EventTable } from '../event-bus/table/event-table.ts';
import { openedOnce } from './opened-once.ts';

export interface SaveEventOptions {
  /** Opened by the first invocation and kept as long as the function's container lives. */
  open(): Promise<Pick<EventTable, 'save'>>;
  /** @defaultValue stderrLogger */
  logger?: Logger;
}

/** A function at the event bus that saves every event, once however often it comes. It fails where the table does. */
export function saveEventHandler({ open, logger = stderrLogger }: SaveEventOptions) {
  const opened = openedOnce(open);
  return async (delivered: DeliveredEvent): Promise<void> => {
    const event = eventIn(delivered);
    if (event) await (await opened()).save(event);
    else logger.warn({ type: delivered['detail-type'] }, 'An event that is none of a task or job was left out.');
  };
}
