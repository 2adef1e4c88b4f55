import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { calls, type FakeModel, says } from '../src/testing/index.ts';
import { folder, model } from './testing/agent.ts';
import { ENDLESS, gone, pidIn } from './testing/processes.ts';

const TASK = resolve(import.meta.dirname, 'testing/by-hand-task.ts');

interface Ran {
  child: ChildProcess;
  cwd: string;
  /** When it has ended. */
  end: Promise<{ code: number | null; out: string; err: string }>;
}

async function byHand(
  asked: FakeModel,
  args: readonly string[],
  given: { cwd?: string; env?: object } = {},
): Promise<Ran> {
  const cwd = given.cwd ?? (await folder());
  const env = { PATH: process.env['PATH'], TMPDIR: await folder(), ...asked.env, ...given.env };
  const child = spawn(process.execPath, [TASK, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const told = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    told.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    told.err += text;
  });
  const end = once(child, 'close').then(([code]) => ({ code: code as number | null, ...told }));
  return { child, cwd, end };
}

test('the result goes to stdout, what the agent does to stderr, and its files to .output', async () => {
  const asked = await model([calls('Bash', { command: 'echo 1' }), says('Two.')]);
  const { end, cwd } = await byHand(asked, ['{"folder":"src"}']);
  const { code, out, err } = await end;
  expect(JSON.parse(out)).toMatchObject({ output: 'Two.', turns: 2 });
  expect(err).toMatch(/^begins session [\s\S]*\ncalls Bash \{"command":"echo 1"\}\n[\s\S]*\nsays: Two\.\n/);
  expect(code).toBe(0);
  expect(asked.requests[0]!.prompt).toBe('Count the files in src.');
  expect(await readdir(join(cwd, '.output'))).toHaveLength(1);
});

test('the input may be in the file that INPUT_FILE names, or in inputs/input.json', async () => {
  const asked = await model([says('x').always()]);
  const cwd = await folder();
  await mkdir(join(cwd, 'inputs'));
  await writeFile(join(cwd, 'inputs/input.json'), '{"folder":"usual"}');
  await writeFile(join(cwd, 'named.json'), '{"folder":"named"}');
  for (const env of [{}, { INPUT_FILE: 'named.json' }])
    expect((await (await byHand(asked, [], { cwd, env })).end).code).toBe(0);
  expect(asked.requests.map(({ prompt }) => prompt)).toEqual([
    'Count the files in usual.',
    'Count the files in named.',
  ]);
});

test('an input that the task refuses ends it with 1, and says why', async () => {
  const asked = await model([]);
  const { code, out, err } = await (await byHand(asked, ['{"folder":7}'])).end;
  expect({ code, out, err }).toEqual({
    code: 1,
    out: '',
    err: expect.stringContaining("Task 'agent.hand' refuses its input"),
  });
  expect(asked.requests).toEqual([]);
});

test('Ctrl-C ends the agent and its tools, with 130', async () => {
  const asked = await model([calls('Bash', { command: ENDLESS, timeout: 600_000 }).always()]);
  const { child, cwd, end } = await byHand(asked, ['{"folder":"src"}']);
  const tool = await pidIn(join(cwd, 'pid.txt'));
  child.kill('SIGINT');
  expect(await end).toMatchObject({ code: 130, out: '', err: expect.stringContaining('The run was interrupted') });
  await gone(tool, 0);
});
