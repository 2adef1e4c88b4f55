import type { EventBusOptions } from '@waybill/aws/event-bus';
import { type DeliveryObserver, type Logger, type Waybill, WaybillError } from '@waybill/core';
import { openBlobs } from './open-blobs.ts';

/** Which bus of EventBridge is told, and as what. */
export type EventBusChoice = Pick<EventBusOptions, 'bus' | 'app' | 'environment' | 'region' | 'endpoint'>;

interface Telling {
  waybill: Waybill;
  /** Where large payloads go; undefined: nowhere. */
  blobs: string | undefined;
  logger: Logger;
  /** Stands around every delivery, for traces and metrics. @defaultValue none */
  observe?: DeliveryObserver | undefined;
}

/**
 * Sends what happens to a bus of EventBridge, until it is stopped. Of the processes that do so on a store, one at a time
 * sends. Loaded only when a bus is named.
 */
export async function tellEventBus(
  choice: EventBusChoice,
  { waybill, blobs: address, logger, observe }: Telling,
): Promise<{ stop(): Promise<void> }> {
  if (!waybill.sinks) throw new WaybillError('unsupported', 'Only a process with a store sends to an event bus.');
  const { eventBus } = await import('@waybill/aws/event-bus');
  const opened = address === undefined ? undefined : await openBlobs(address);
  const bucket = address === undefined ? undefined : bucketIn(address);
  const blobs = opened && { blobs: { store: opened.store, ...(bucket !== undefined && { bucket }) } };
  const bus = await eventBus({ ...choice, waybill, logger, ...blobs });
  const running = waybill.sinks.run({ list: async () => [bus.sink] }, observe ? { observe } : {});
  return {
    stop: async () => {
      await running.stop();
      bus.close();
      await opened?.store.close();
    },
  };
}

const bucketIn = (address: string): string | undefined => /^s3:\/\/([^/?]+)/i.exec(address)?.[1];
