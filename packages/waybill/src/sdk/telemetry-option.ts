import { WaybillError } from '@waybill/core';
import type { Instrumentation } from '@waybill/telemetry';

/** `true`: by what this process has registered with the OpenTelemetry API. */
export type TelemetryOption = boolean | Instrumentation;

export function checkTelemetry(option: TelemetryOption | undefined): void {
  if (option === undefined || typeof option === 'boolean' || isInstrumentation(option)) return;
  throw new WaybillError('invalid_request', "The option 'telemetry' must be true, false or an instrumentation.", {
    hint: 'Make one with instrument() of @waybill/telemetry, or say true to use what OpenTelemetry has registered.',
  });
}

/** Loaded only when asked for: without it no module of OpenTelemetry is. */
export async function loadTelemetry(option: TelemetryOption | undefined): Promise<Instrumentation | undefined> {
  checkTelemetry(option);
  if (option !== true) return isInstrumentation(option) ? option : undefined;
  const { instrument } = await import('@waybill/telemetry');
  return instrument();
}

export const isInstrumentation = (option: unknown): option is Instrumentation =>
  typeof option === 'object' && option !== null && typeof (option as Partial<Instrumentation>).port === 'function';
