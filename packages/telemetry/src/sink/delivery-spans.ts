import { SpanKind } from '@opentelemetry/api';
import type { DeliveryObserver } from '@waybill/core';
import type { Instruments } from '../metrics/instruments.ts';
import { NO_PARENT, type Spans } from '../trace/spans.ts';

/**
 * A span for every try to deliver an event, and a count of how they end. A trace of its own: a receiver that is down for
 * hours would make the trace of a job as long. Of the address only the host is told, because the rest may hold tokens.
 */
export function deliverySpans(spans: Spans, instruments: Instruments): DeliveryObserver {
  return async ({ target: { kind, host }, tenant, eventType, attempt }, deliver) => {
    const request = {
      ...{ name: `deliver ${kind}`, kind: SpanKind.CLIENT, parent: NO_PARENT },
      attributes: {
        'waybill.sink': kind,
        'waybill.event.type': eventType,
        'waybill.delivery.attempt': attempt,
        ...(host !== undefined && { 'server.address': host }),
      },
    };
    const tell = (outcome: 'delivered' | 'failed') =>
      instruments.tell('sinkDeliveries', 1, { sink: kind, outcome, ...instruments.ofTenant(tenant) });
    try {
      await spans.within(request, deliver);
    } catch (error) {
      tell('failed');
      throw error;
    }
    tell('delivered');
  };
}
