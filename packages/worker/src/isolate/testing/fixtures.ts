import { readFileSync } from 'node:fs';
import type { Json } from '@waybill/core';
import { type AnyTask, task } from '../../task.ts';
import type { IsolateOptions } from '../isolate-options.ts';
import { fixture } from './contain.ts';
import { misbehaving } from './misbehaving-module.ts';

/** A program or a handler that misbehaves, and what its run must come to. */
export interface Fixture {
  about: string;
  task: AnyTask;
  input?: Json;
  /** What a completed job has as its result; undefined: it fails. */
  result?: Json;
  /** Of the error of a failed job. */
  error?: { code: string; details?: object };
}

const sh = (script: string): NonNullable<IsolateOptions['command']> => ['/bin/sh', '-c', script];
const node = (script: string): NonNullable<IsolateOptions['command']> => [process.execPath, '-e', script];

/** Root starts the fork bomb as a user who may do nothing; any other user is one already. */
const asNobody: readonly [string, ...string[]] =
  process.getuid?.() === 0 ? ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups', '--', 'sh'] : ['sh'];

/** As text, because that user may not read this folder. */
const FORK_BOMB = readFileSync(fixture('fork-bomb.sh'), 'utf8');

const HOG = 'const all = []; setInterval(() => all.length < 20 && all.push(Buffer.alloc(15e6, 1)), 20)';
const HUGE = 5_000_000;

/** `env` is what all their processes have, so that a test finds those that are left. */
export function fixtures(env: Readonly<Record<string, string>>): Fixture[] {
  let count = 0;
  const program = (isolate: IsolateOptions): AnyTask => {
    count += 1;
    return task(`fixture.n${count}`, { isolate: { ...isolate, env }, retry: { max_attempts: 1 } }) as AnyTask;
  };
  const command = (script: string, limits: IsolateOptions = {}) => program({ command: sh(script), ...limits });
  const handler = misbehaving('fixture.handler', env);
  return [
    {
      about: 'a fork bomb of a user without privileges',
      task: program({ command: [...asNobody, '-c', FORK_BOMB, 'sh', '60'], timeout: 2_000 }),
      error: { code: 'timeout' },
    },
    {
      about: 'a memory hog',
      task: program({ command: node(HOG), memoryMb: 150 }),
      error: { code: 'oom', details: { signal: 'SIGKILL' } },
    },
    {
      about: 'a busy loop',
      task: command('while :; do :; done', { cpuSeconds: 0.5 }),
      error: { code: 'cpu_limit' },
    },
    {
      about: 'busy loops in children, within no limit but time',
      task: command('for i in 1 2 3 4; do while :; do :; done & done; wait', { timeout: 2_000 }),
      error: { code: 'timeout' },
    },
    {
      about: 'a handler that keeps its event loop busy and hears nothing',
      ...{ task: misbehaving('fixture.busy', env, 4_000), input: 'busy' },
      error: { code: 'timeout' },
    },
    {
      about: 'SIGTERM ignored by all of the tree',
      task: command('trap "" TERM; (trap "" TERM; while :; do sleep 1; done) & while :; do sleep 1; done', {
        // Long enough for its shells to begin, whatever else runs.
        timeout: 4_000,
      }),
      error: { code: 'timeout', details: { signal: 'SIGKILL' } },
    },
    {
      about: '1 GB of output',
      task: command('exec head -c 1000000000 /dev/zero', { maxOutputBytes: 5_000_000 }),
      error: { code: 'output_limit' },
    },
    {
      about: 'death by a signal',
      task: command('kill -SEGV $$'),
      error: { code: 'signal', details: { signal: 'SIGSEGV' } },
    },
    { about: 'exit 1', task: command('exit 1'), error: { code: 'nonzero', details: { exit_code: 1 } } },
    { about: 'a program that waits for the end of stdin', task: command('cat > /dev/null'), result: null },
    {
      about: 'a program that never reads a large stdin',
      task: command('sleep 0.2; echo 7'),
      ...{ input: 'x'.repeat(500_000), result: 7 },
    },
    {
      about: 'an orphaned grandchild that called setsid',
      task: command("(setsid sh -c 'sleep 1000' &); echo '\"left\"'"),
      result: 'left',
    },
    {
      about: 'a result that is no JSON',
      task: command('echo "{" > "$WAYBILL_RESULT_FILE"'),
      error: { code: 'invalid_result' },
    },
    { about: 'a handler whose result is no JSON', task: handler, input: 'no-json', error: { code: 'invalid_result' } },
    {
      about: 'a huge result',
      task: command(`head -c ${HUGE} /dev/zero | tr '\\0' 1 > "$WAYBILL_RESULT_FILE"`),
      error: { code: 'invalid_result' },
    },
    { about: 'a handler with a huge result', task: handler, input: 'huge', error: { code: 'invalid_result' } },
  ];
}
