import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RunFiles } from '@waybill/worker';
import { expect, test } from 'vitest';
import { answers, calls, type FakeModel, fails, folderFiles, says } from '../src/testing/index.ts';
import { folder, model, OUTPUT, start } from './testing/agent.ts';
import { ENDLESS, gone, madeWithin, pidIn } from './testing/processes.ts';

const CHILD = fileURLToPath(new URL('./testing/run-child.ts', import.meta.url));

function startChild(files: string, cwd: string, tmp: string, asked: FakeModel): ChildProcess {
  const env = { PATH: process.env['PATH'], TMPDIR: tmp, ...asked.env };
  return spawn(process.execPath, [CHILD, files, JSON.stringify(env)], { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
}

test('kill -9 in mid-agent: its tools and the CLI end, and the next run resumes the session and adds up the usage', async () => {
  const [filesFolder, cwd, tmp] = [await folder(), await folder(), await folder()];
  const asked = await model([
    calls('Bash', { command: ENDLESS, timeout: 600_000 }).using({ inputTokens: 300, outputTokens: 40 }),
    answers({ files: 3 }).using({ inputTokens: 500, outputTokens: 60 }),
  ]);
  const child = startChild(filesFolder, cwd, tmp, asked);
  const pid = await pidIn(join(cwd, 'pid.txt'));
  child.kill('SIGKILL');
  await once(child, 'exit');
  await gone(pid);

  const files = folderFiles(filesFolder);
  // Its checkpoint has not arrived: a worker sends one a second at most.
  const next = await start([], { output: OUTPUT }, { files, model: asked, run: 2, lastCheckpoint: null });
  expect(await next.result).toMatchObject({
    output: { files: 3 },
    turns: 2,
    attempts: 1,
    usage: { inputTokens: 800, outputTokens: expect.any(Number) },
  });
  expect(asked.requests).toHaveLength(2);
  const [first, second] = asked.requests;
  expect(second!.sessionId).toBe(first!.sessionId);
  expect(second!.prompts[0]).toBe('Count the files.');
  expect(second!.prompt).toContain('The worker restarted');
  // The CLI does not know what came of the tool, and says so.
  expect(second!.toolResult('Bash')).toMatchObject({ isError: true });
  expect(next.context.of('agent.session')).toMatchObject([{ is_resumed: true }]);
  // Of shared budgets it spends what it has used itself: the answer before the kill was told by the first run.
  expect(next.context.expenses.map(({ amounts }) => amounts['tokens'])).toEqual([0, 560]);
});

test('a tool runs when its call is kept, and not before', async () => {
  const filesFolder = await folder();
  const cwd = await folder();
  const kept = folderFiles(filesFolder);
  // A place that is slow for what holds a call: it goes on when the tool has begun, or when there was time enough to.
  const files: RunFiles = {
    get: kept.get,
    put: async (name, data) => {
      if (Buffer.from(data).includes('"tool_use"')) await madeWithin(1_500, join(cwd, 'begun.txt'));
      await kept.put(name, data);
    },
  };
  const inTranscripts = `grep -rl toolu_fake_1_0 ${filesFolder}/sessions --include=*.jsonl | wc -l`;
  const agent = await start(
    [calls('Bash', { command: `echo > begun.txt; ${inTranscripts}` }), answers({ files: 1 })],
    { output: OUTPUT },
    { files, cwd },
  );
  await agent.result;
  expect(agent.model.requests[1]!.toolResult('Bash')).toMatchObject({ text: '1' });
});

test('the tools of a subagent wait for their own transcript', async () => {
  const agent = await start(
    (request) => {
      if (!request.prompt.includes('Sub work'))
        return request.hasToolResult()
          ? says('All done.')
          : calls('Agent', { description: 'd', prompt: 'Sub work', subagent_type: 'general-purpose' });
      return request.hasToolResult('Bash') ? says('Sub done.') : calls('Bash', { command: 'echo made > made.txt' });
    },
    { tools: ['Agent', 'Bash'] },
  );
  expect((await agent.result).output).toBe('All done.');
  expect(await readFile(join(agent.cwd, 'made.txt'), 'utf8')).toBe('made\n');
});

test('a call that cannot be kept does not run, and the run fails', async () => {
  const kept = folderFiles(await folder());
  const files: RunFiles = {
    get: kept.get,
    put: async (name, data) => {
      if (Buffer.from(data).includes('"tool_use"')) throw new Error('The disk is full.');
      await kept.put(name, data);
    },
  };
  const agent = await start([calls('Bash', { command: 'echo > begun.txt' }).always()], {}, { files });
  expect(String(await agent.failure())).toContain('The disk is full.');
  await expect(readFile(join(agent.cwd, 'begun.txt'))).rejects.toThrow('ENOENT');
});

test('a run that failed for a while is gone on with by the next run, which does not repeat its tools', async () => {
  const [filesFolder, cwd] = [await folder(), await folder()];
  const asked = await model([
    calls('Bash', { command: 'echo once >> done.txt; cat done.txt' }),
    fails(500).times(9),
    answers({ files: 1 }).when((request) => request.toolResult('Bash')?.text === 'once'),
  ]);
  const files = folderFiles(filesFolder);
  const first = await start([], { output: OUTPUT }, { files, model: asked, cwd });
  expect(await first.failure()).toMatchObject({ code: 'api_error', retryable: true, status: 500 });
  const lastCheckpoint = first.context.saved;
  const second = await start([], { output: OUTPUT }, { files, model: asked, cwd, run: 2, lastCheckpoint });
  expect(await second.result).toMatchObject({ output: { files: 1 }, turns: 2, usage: { inputTokens: 200 } });
});

test('a job that is run again after it was done begins a conversation of its own', async () => {
  const files = folderFiles(await folder());
  const asked = await model([answers({ files: 1 }), answers({ files: 2 })]);
  const first = await start([], { output: OUTPUT }, { files, model: asked });
  const { sessionId } = await first.result;
  const again = await start([], { output: OUTPUT }, { files, model: asked, run: 2 });
  expect(await again.result).toMatchObject({ output: { files: 2 } });
  expect((await again.result).sessionId).not.toBe(sessionId);
  expect(asked.requests[1]!.prompts).toEqual(['Count the files.']);
});

test('transcripts of subagents are kept too', async () => {
  const filesFolder = await folder();
  const files = folderFiles(filesFolder);
  const agent = await start(
    (request) => {
      if (request.prompt.includes('Sub work')) return says('Sub done.');
      const call = { description: 'd', prompt: 'Sub work', subagent_type: 'general-purpose' };
      return request.hasToolResult() ? says('All done.') : calls('Agent', call);
    },
    { tools: ['Agent'] },
    { files },
  );
  const { sessionId } = await agent.result;
  const subpaths = JSON.parse(Buffer.from((await files.get(`sessions/${sessionId}/subpaths.json`))!).toString());
  expect(subpaths).toHaveLength(1);
  expect(subpaths[0]).toMatch(/^subagents\//);
  expect(await files.get(`sessions/${sessionId}/${subpaths[0]}/00001.jsonl`)).not.toBeNull();
});
