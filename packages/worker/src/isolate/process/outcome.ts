import type { ProcessLimits, ProcessOutcome } from '../contained.ts';
import type { Cause } from './ladder.ts';
import { asBytes } from './quantities.ts';

/** Everything that tells how a program ended. */
export interface Evidence {
  /** Why we ended it; null when we did not. */
  cause: Cause | null;
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  limits: ProcessLimits;
  lastOutput: string;
  /** Of the tree, when it was last looked at. */
  memoryBytes: number;
  /** Whether the kernel has killed any process of this host for want of memory since the start. */
  hostKilledForMemory: boolean;
  /** Whether it has killed one of the run's own group, which was at its limit. */
  groupKilledForMemory: boolean;
}

/** V8 says so on stderr and aborts. */
const HEAP_LIMIT = /heap limit|JavaScript heap out of memory/;
/** What a wrapper says when it cannot run the program, before it exits with 126 or 127. */
const WRAPPER_FAILED = /^(?:\S*\/)?(?:nice|choom|prlimit|setpriv): .*/;

/** The first that fits. What we did comes before what the exit code says, even when that is 0. */
export function decideOutcome(evidence: Evidence): Cause {
  return evidence.cause ?? endedAtLimit(evidence) ?? endedBySignal(evidence) ?? endedByCode(evidence);
}

/** A program that has gone on without the process that was killed has come to its own end. */
function endedAtLimit({ groupKilledForMemory, exitCode, limits }: Evidence): Cause | null {
  if (!groupKilledForMemory || exitCode === 0) return null;
  return tell('oom', `The kernel ended the program at its memory limit of ${asBytes(limits.memoryBytes!)}.`);
}

function endedBySignal({ signal, ...evidence }: Evidence): Cause | null {
  if (signal === null) return null;
  if (signal === 'SIGXCPU') return tell('cpu_limit', 'The program used more CPU time than one process may use.');
  if (signal === 'SIGABRT' && HEAP_LIMIT.test(evidence.lastOutput)) return heapLimit;
  const suspicion = signal === 'SIGKILL' ? suspectMemory(evidence) : null;
  if (suspicion !== null) return suspicion;
  return tell('signal', `The program was ended by ${signal}. The worker did not send it.`);
}

/** 128 and more is how a shell answers for a child that a signal has ended. */
function endedByCode(evidence: Evidence): Cause {
  const { exitCode, lastOutput, limits } = evidence;
  if (exitCode === 0) return tell('exited', 'The program ended with exit code 0.');
  if (exitCode === 126 || exitCode === 127) {
    const refusal = WRAPPER_FAILED.exec(lastOutput)?.[0];
    if (refusal) return tell('spawn_failed', `The program could not be started: ${refusal}`);
  }
  if (exitCode === 134 && HEAP_LIMIT.test(lastOutput)) return heapLimit;
  if (exitCode === 137) {
    const suspicion = suspectMemory(evidence);
    if (suspicion !== null) return suspicion;
  }
  if (exitCode === 152 && limits.cpuMs !== undefined)
    return tell('cpu_limit', 'A child of the program used more CPU time than one process may use (exit code 152).');
  return tell('nonzero', `The program ended with exit code ${exitCode}.`);
}

/** The kernel does not tell whom it killed, so this is never certain. */
function suspectMemory({ limits, memoryBytes, hostKilledForMemory }: Omit<Evidence, 'signal'>): Cause | null {
  const nearLimit = limits.memoryBytes !== undefined && memoryBytes >= 0.9 * limits.memoryBytes;
  if (!nearLimit && !hostKilledForMemory) return null;
  const why = nearLimit
    ? `it used ${asBytes(memoryBytes)}, and the limit is ${asBytes(limits.memoryBytes!)}`
    : 'the kernel of this host killed a process for want of memory while it ran';
  return tell('oom', `The program was ended by SIGKILL. Out of memory is suspected: ${why}.`);
}

const heapLimit: Cause = { outcome: 'oom', message: 'The program reached the heap limit of its JavaScript engine.' };

const tell = (outcome: ProcessOutcome, message: string): Cause => ({ outcome, message });
