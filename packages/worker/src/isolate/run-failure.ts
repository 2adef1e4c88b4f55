import { type ErrorInput, type JsonObject, withoutSecrets } from '@waybill/core';
import { RunFailure } from '../execute/failure.ts';
import type { ProcessEnd } from './contained.ts';

/** Of the last output, as much as a row keeps; the journal has more. */
const TAIL_IN_ROW = 4_000;

/** What an operator needs to know of a process that has ended, in the words of the wire. */
export function factsOf({ outcome, exitCode, signal, usage }: ProcessEnd): JsonObject {
  return {
    outcome,
    exit_code: exitCode,
    signal,
    elapsed_ms: Math.round(usage.elapsedMs),
    cpu_ms: Math.round(usage.cpuMs),
    peak_memory_bytes: usage.peakMemoryBytes,
    output_bytes: usage.outputBytes,
  };
}

/** The failure of a run whose process came to no good end. */
export function processFailure(end: ProcessEnd, error: Omit<ErrorInput, 'details'>): RunFailure {
  const tail = withoutSecrets(end.lastOutput).slice(-TAIL_IN_ROW);
  return new RunFailure({ ...error, details: { ...factsOf(end), ...(tail !== '' && { last_output: tail }) } });
}
