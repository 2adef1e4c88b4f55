import { type Json, WaybillError } from '@waybill/core';
import { task } from '@waybill/worker';
import { expect, expectTypeOf, it, onTestFinished } from 'vitest';
import { type TestWaybillOptions, testWaybill } from './index.ts';

async function kitWith(tasks: TestWaybillOptions['tasks'], options: Omit<TestWaybillOptions, 'tasks'> = {}) {
  const kit = await testWaybill({ tasks, ...options });
  onTestFinished(() => kit.close());
  return kit;
}

const program = (text: string) => ({ command: ['/bin/sh', '-c', text] as const });
const sorted = task<string[]>('lines.sort', { isolate: program(`sed 's/"a","b"/"b","a"/'; echo sorting >&2`) });
const failing = task('lines.fail', { retry: { max_attempts: 1 }, isolate: program('echo why >&2; exit 3') });
const endless = task('lines.endless', { timeout: 50, retry: { max_attempts: 1 }, isolate: program('exec sleep 60') });
const inside = task('lines.inside', { isolate: { module: import.meta.url }, run: () => process.pid });
const bare = task('lines.bare', { retry: { max_attempts: 1 }, isolate: { module: 'no-such-module.mjs' } });
const unsupported = task('lines.unsupported', {
  retry: { max_attempts: 1 },
  isolate: { module: import.meta.url },
  run: () => {
    throw new WaybillError('unsupported', 'Not with this database.');
  },
});

it('runs a task with a command in a real process, inline and drained', async () => {
  const kit = await kitWith([sorted]);
  const result = await kit.runInline(sorted, ['a', 'b']);
  expectTypeOf(result).toEqualTypeOf<Json>();
  expect(result).toEqual(['b', 'a']);
  expect(kit.entries().map(({ type }) => type)).toEqual(expect.arrayContaining(['process.started', 'process.ended']));
  await kit.enqueue(sorted, ['a', 'b']);
  const [ran] = await kit.drain();
  expect(ran?.outcome).toEqual({ kind: 'completed', result: ['b', 'a'] });
  const printed = ran!.entries
    .filter(({ stream }) => stream === 'stderr')
    .map(({ output }) => String(Buffer.from(output!)));
  expect(printed.join('')).toBe('sorting\n');
});

it('shows how a program has failed', async () => {
  const kit = await kitWith([failing]);
  await expect(kit.runInline(failing, undefined)).rejects.toMatchObject({
    failure: { code: 'nonzero', details: { exit_code: 3 } },
  });
});

it('lets a program have its timeout in real time, and ends it then', async () => {
  const kit = await kitWith([endless], { handlerMs: 1 });
  await kit.enqueue(endless, undefined);
  const [ran] = await kit.drain();
  expect(ran?.outcome).toMatchObject({ kind: 'failed', error: { code: 'timeout' } });
});

it('calls the handler of an isolated module in the process of the test', async () => {
  const kit = await kitWith([inside, unsupported]);
  expect(await kit.runInline(inside, undefined)).toBe(process.pid);
  // A refusal of the handler's own is no lack of a handler.
  await expect(kit.runInline(unsupported, undefined)).rejects.toThrow('Not with this database.');
  expect(kit.entries()).toEqual([]);
});

it('runs an isolated module without a handler in a real process', async () => {
  const kit = await kitWith([bare]);
  await expect(kit.runInline(bare, undefined)).rejects.toThrow('Cannot find module');
});

it('keeps files of a job from run to run', async () => {
  const files = task('files.twice', {
    retry: { max_attempts: 2, initial_interval: 'PT1H' },
    run: async (_, { attempt, files: own }) => {
      if (attempt > 1) return String(Buffer.from((await own.get('page'))!));
      await own.put('page', Buffer.from('7'));
      throw new Error('again');
    },
  });
  const kit = await kitWith([files]);
  await kit.enqueue(files);
  await kit.drain();
  await kit.advance(2 * 3_600_000);
  expect((await kit.drain())[0]?.outcome).toEqual({ kind: 'completed', result: '7' });
});
