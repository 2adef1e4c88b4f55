import { expect, it } from 'vitest';
import { decideOutcome, type Evidence } from './outcome.ts';

const evidence: Evidence = {
  cause: null,
  exitCode: null,
  signal: null,
  limits: { maxOutputBytes: 1, maxLineBytes: 1, killAfterMs: 1, memoryBytes: 100 * 1024 * 1024, cpuMs: 1000 },
  lastOutput: '',
  memoryBytes: 0,
  hostKilledForMemory: false,
  groupKilledForMemory: false,
};

const HEAP = 'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory';
const cause = { outcome: 'cancelled' as const, message: 'The worker ended the program: cancelled.' };
const atLimit = { groupKilledForMemory: true };
const nearLimit = { memoryBytes: 95 * 1024 * 1024 };

it.each<[string, Partial<Evidence>, string, RegExp]>([
  ['our cause, with exit code 0', { cause, exitCode: 0 }, 'cancelled', /^The worker ended the program/],
  ['our cause, before a signal', { cause, signal: 'SIGKILL', ...nearLimit }, 'cancelled', /./],
  ['SIGKILL of another process', { signal: 'SIGKILL' }, 'signal', /SIGKILL\. The worker did not send it\.$/],
  [
    'SIGKILL near the limit',
    { signal: 'SIGKILL', ...nearLimit },
    'oom',
    /suspected: it used 95 MiB.* limit is 100 MiB/,
  ],
  ['SIGKILL, and the host was short', { signal: 'SIGKILL', hostKilledForMemory: true }, 'oom', /suspected: the kernel/],
  ['137 near the limit', { exitCode: 137, ...nearLimit }, 'oom', /suspected/],
  [
    'SIGKILL by the kernel at the limit',
    { signal: 'SIGKILL', ...atLimit },
    'oom',
    /^The kernel ended the program at its memory limit of 100 MiB/,
  ],
  ['exit code 1 of a parent whose child was killed so', { exitCode: 1, ...atLimit }, 'oom', /limit/],
  ['exit code 0 of a parent whose child was killed so', { exitCode: 0, ...atLimit }, 'exited', /exit code 0/],
  ['137', { exitCode: 137 }, 'nonzero', /exit code 137/],
  ['SIGTERM near the limit', { signal: 'SIGTERM', ...nearLimit }, 'signal', /SIGTERM/],
  ['SIGXCPU', { signal: 'SIGXCPU' }, 'cpu_limit', /CPU time/],
  ['152 of a shell', { exitCode: 152 }, 'cpu_limit', /152/],
  ['SIGABRT of V8', { signal: 'SIGABRT', lastOutput: HEAP }, 'oom', /heap limit/],
  ['134 of V8', { exitCode: 134, lastOutput: HEAP }, 'oom', /heap limit/],
  ['SIGABRT', { signal: 'SIGABRT' }, 'signal', /SIGABRT/],
  ['1 with such a text', { exitCode: 1, lastOutput: HEAP }, 'nonzero', /exit code 1\./],
  ['127 of a wrapper', { exitCode: 127, lastOutput: '/bin/nice: /x: gone\n' }, 'spawn_failed', /nice: \/x: gone$/],
  ['127 of a shell', { exitCode: 127, lastOutput: 'sh: 1: x: not found\n' }, 'nonzero', /exit code 127/],
  ['0', { exitCode: 0 }, 'exited', /exit code 0/],
])('%s', (_, given, outcome, message) => {
  const decided = decideOutcome({ ...evidence, ...given });
  expect(decided.outcome).toBe(outcome);
  expect(decided.message).toMatch(message);
});

it('152 is an exit code like any other where no CPU limit was set', () => {
  const { cpuMs: _, ...limits } = evidence.limits;
  expect(decideOutcome({ ...evidence, limits, exitCode: 152 }).outcome).toBe('nonzero');
});
