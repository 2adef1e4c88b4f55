import { isSpanContextValid, trace } from '@opentelemetry/api';
import type { Logger } from '@waybill/core';

/** Adds `trace_id` and `span_id` of the active span to every line, so that a line leads to its trace and back. */
export function tracedLogger(logger: Logger): Logger {
  return {
    debug: (fields, message) => logger.debug(withIds(fields), message),
    info: (fields, message) => logger.info(withIds(fields), message),
    warn: (fields, message) => logger.warn(withIds(fields), message),
    error: (fields, message) => logger.error(withIds(fields), message),
  };
}

/** What the caller calls so itself stays. */
function withIds(fields: object): object {
  const active = trace.getActiveSpan()?.spanContext();
  if (active === undefined || !isSpanContextValid(active)) return fields;
  return { trace_id: active.traceId, span_id: active.spanId, ...fields };
}
