import type { ProcessLimits } from './contained.ts';
import type { RunHandover } from './isolated-program.ts';

/** A line of the channel has one result or entry, whose JSON may be longer than what it says. */
const LINE_ROOM = 1_024 * 1_024;

export function limitsOf({ isolate, parts }: Pick<RunHandover, 'isolate' | 'parts'>): ProcessLimits {
  const { memoryBytes, cpuMs, maxOutputBytes } = isolate;
  return {
    ...(memoryBytes !== null && { memoryBytes }),
    ...(cpuMs !== null && { cpuMs }),
    maxOutputBytes,
    maxLineBytes: 2 * parts.maxResultBytes + LINE_ROOM,
    killAfterMs: parts.killAfterMs,
  };
}
