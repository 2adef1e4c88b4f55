import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Answer } from '@waybill/worker';
import { expect, test } from 'vitest';
import { answers, calls, folderFiles } from '../src/testing/index.ts';
import { folder, model, OUTPUT, start } from './testing/agent.ts';

const ASK = 'mcp__waybill__ask_human';
const PAUSED = { outcome: 'snoozed' };
const said = (choice: string | null, text: string | null = null): Answer => ({
  ...{ status: 'answered', choice, text, by: 'ann', at: 1 },
});

/** One run after the other of the same job, each with what the person has said by then. */
async function jobOf(turns: Parameters<typeof model>[0], definition: Parameters<typeof start>[1]) {
  const [files, cwd, asked] = [folderFiles(await folder()), await folder(), await model(turns)];
  let last: Awaited<ReturnType<typeof start>> | undefined;
  let run = 0;
  let saved: Awaited<ReturnType<typeof start>>['context']['saved'] = null;
  const next = async (...given: Answer[]) => {
    run += 1;
    // A run that says nothing leaves the checkpoint of the one before.
    saved = last?.context.saved ?? saved;
    const lastCheckpoint = saved;
    last = await start(
      [],
      { output: OUTPUT, ...definition },
      { files, cwd, model: asked, run, answers: given, lastCheckpoint },
    );
    return last;
  };
  return { next, model: asked, cwd };
}

test('an agent asks a person, and the next run goes on with its session and the answer', async () => {
  const { next, model: asked } = await jobOf(
    [
      calls(ASK, { question: 'Which folder?', choices: ['src', 'test'] }).using({ inputTokens: 300, outputTokens: 40 }),
      answers({ files: 2 }).using({ inputTokens: 500, outputTokens: 60 }),
    ],
    { askHuman: { description: 'Ask the owner.', expiresInMs: 60_000 } },
  );
  const first = await next();
  expect(await first.failure()).toEqual(PAUSED);
  expect(first.context.asked).toMatchObject([{ text: 'Which folder?', choices: ['src', 'test'], expiresInMs: 60_000 }]);
  expect(asked.requests).toHaveLength(1);
  expect(asked.requests[0]!.tools).toContain(ASK);
  // Without an answer the next run ends before the model is asked.
  const early = await next();
  expect(await early.failure()).toEqual(PAUSED);
  expect(early.context.asked).toEqual(first.context.asked);
  expect(asked.requests).toHaveLength(1);
  const last = await next(said('src', 'Only *.ts.'));
  expect(await last.result).toMatchObject({ output: { files: 2 }, turns: 2, usage: { inputTokens: 800 } });
  const [, resumed] = asked.requests;
  expect(resumed!.sessionId).toBe(asked.requests[0]!.sessionId);
  expect(resumed!.prompts[0]).toBe('Count the files.');
  expect(resumed!.prompt).toMatch(/answer to your question: src\. Only \*\.ts\./);
  expect(resumed!.toolResult(ASK)).toMatchObject({
    text: 'The question is recorded. A person will answer it.',
    isError: false,
  });
});

test('a question that is none is refused without a person, and an answer that is there is used at once', async () => {
  const { next, model: asked } = await jobOf(
    [
      calls(ASK, { question: '' }),
      calls(ASK, { question: 'Go on?' }).when((request) => request.toolResult(ASK)?.isError === true),
      answers({ files: 1 }).when(({ prompt }) => prompt.includes('Yes, go on.')),
    ],
    { askHuman: true },
  );
  const only = await next(said(null, 'Yes, go on.'));
  expect((await only.result).output).toEqual({ files: 1 });
  expect(only.context.asked).toHaveLength(1);
  expect(asked.requests).toHaveLength(3);
});

test('a call that a person must approve runs once after it was approved, and must be approved again', async () => {
  const write = calls('Bash', { command: 'echo once >> done.txt' });
  const { next, cwd, model: asked } = await jobOf([write, write, write, answers({ files: 1 })], { approve: ['Bash'] });
  const done = () => readFile(join(cwd, 'done.txt'), 'utf8').catch(() => '');
  const first = await next();
  expect(await first.failure()).toEqual(PAUSED);
  expect(first.context.asked).toMatchObject([
    { choices: ['approve', 'deny'], details: { tool: 'Bash', input: { command: 'echo once >> done.txt' } } },
  ]);
  expect(await done()).toBe('');
  const second = await next(said('approve'));
  // The same call again is another one.
  expect(await second.failure()).toEqual(PAUSED);
  expect(await done()).toBe('once\n');
  expect(second.context.asked[1]!.key).not.toBe(first.context.asked[0]!.key);
  const third = await next(said('deny', 'Once is enough.'));
  expect((await third.result).output).toEqual({ files: 1 });
  expect(asked.requests.at(-1)!.prompt).toMatch(/denied your call of Bash .* They said: Once is enough\./s);
  expect(await done()).toBe('once\n');
});

test('an approval is for the very call that was shown', async () => {
  const { next, cwd } = await jobOf(
    [calls('Bash', { command: 'echo a > a.txt' }), calls('Bash', { command: 'echo b > b.txt' })],
    { approve: ['Bash'] },
  );
  expect(await (await next()).failure()).toEqual(PAUSED);
  const second = await next(said('approve'));
  expect(await second.failure()).toEqual(PAUSED);
  expect(second.context.asked[1]).toMatchObject({ details: { input: { command: 'echo b > b.txt' } } });
  for (const name of ['a.txt', 'b.txt']) await expect(readFile(join(cwd, name))).rejects.toThrow();
});

test('a hook of the task cannot change a call that a person has approved', async () => {
  const change = async () => ({
    hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput: { command: 'echo other > other.txt' } },
  });
  const good = calls('Bash', { command: 'echo good > good.txt' });
  const { next, cwd } = await jobOf([good, good, answers({ files: 1 })], {
    approve: ['Bash'],
    hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [change] }] },
  });
  expect(await (await next()).failure()).toEqual(PAUSED);
  const second = await next(said('approve'));
  expect((await second.result).output).toEqual({ files: 1 });
  for (const name of ['good.txt', 'other.txt']) await expect(readFile(join(cwd, name))).rejects.toThrow();
});

test('only calls that a rule names are asked about, wherever the command stands', async () => {
  const { next, cwd } = await jobOf(
    [
      calls('Bash', { command: 'echo free > free.txt; cat free.txt' }),
      calls('Bash', { command: 'cd . && /bin/rm -f free.txt' }).when((request) => request.hasToolResult('Bash')),
    ],
    { approve: ['Bash(rm:*)'] },
  );
  const first = await next();
  expect(await first.failure()).toEqual(PAUSED);
  expect(first.context.asked).toMatchObject([{ details: { input: { command: 'cd . && /bin/rm -f free.txt' } } }]);
  expect(await readFile(join(cwd, 'free.txt'), 'utf8')).toBe('free\n');
});

test('of two calls in one answer the person is shown one, and neither runs before', async () => {
  const both = calls('Bash', { command: 'echo 1 > one.txt' }).calls('Bash', { command: 'echo 2 > two.txt' });
  const { next, cwd } = await jobOf([both], { approve: ['Bash'] });
  const first = await next();
  expect(await first.failure()).toEqual(PAUSED);
  expect(first.context.asked).toHaveLength(1);
  for (const name of ['one.txt', 'two.txt']) await expect(readFile(join(cwd, name))).rejects.toThrow();
});
