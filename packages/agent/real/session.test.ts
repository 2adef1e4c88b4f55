import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '@waybill/core';
import { expect, test } from 'vitest';
import { answers, calls, type FakeModel, fails, folderFiles, says } from '../src/testing/index.ts';
import { folder, model, OUTPUT, start } from './testing/agent.ts';
import { ENDLESS, gone, pidIn } from './testing/processes.ts';

const CHILD = fileURLToPath(new URL('./testing/run-child.ts', import.meta.url));

interface Child {
  process: ChildProcess;
  /** The newest checkpoint. */
  checkpoint(): JsonObject | null;
  /** Resolves when a line of this type has come. */
  said(type: string): Promise<void>;
}

function startChild(files: string, cwd: string, tmp: string, asked: FakeModel): Child {
  const env = { PATH: process.env['PATH'], TMPDIR: tmp, ...asked.env };
  const child = spawn(process.execPath, [CHILD, files, JSON.stringify(env)], {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let checkpoint: JsonObject | null = null;
  const lines = createInterface(child.stdout);
  const seen = new Set<string>();
  const waiting = new Set<() => void>();
  lines.on('line', (line) => {
    const { type, state } = JSON.parse(line);
    seen.add(type);
    if (type === 'checkpoint') checkpoint = state;
    for (const look of waiting) look();
  });
  const said = (type: string): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const look = (): void => void (seen.has(type) && resolve());
    waiting.add(look);
    child.once('exit', () => reject(new Error(`The child ended without saying '${type}'.`)));
    look();
    return promise;
  };
  return { process: child, checkpoint: () => checkpoint, said };
}

test('kill -9 in mid-agent: its tools and the CLI end, and the next run resumes the session and adds up the usage', async () => {
  const [filesFolder, cwd, tmp] = [await folder(), await folder(), await folder()];
  const asked = await model([
    calls('Bash', { command: ENDLESS, timeout: 600_000 }).using({ inputTokens: 300, outputTokens: 40 }),
    answers({ files: 3 }).using({ inputTokens: 500, outputTokens: 60 }),
  ]);
  const child = startChild(filesFolder, cwd, tmp, asked);
  const pid = await pidIn(join(cwd, 'pid.txt'));
  await child.said('checkpoint');
  child.process.kill('SIGKILL');
  await once(child.process, 'exit');
  await gone(pid);

  const files = folderFiles(filesFolder);
  const next = await start([], { output: OUTPUT }, { files, model: asked, run: 2, lastCheckpoint: child.checkpoint() });
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
  expect(next.context.of('agent.session')).toMatchObject([{ isResumed: true }]);
  // Of shared budgets it spends what it has used itself: the answer before the kill was told by the first run.
  expect(next.context.expenses.map(({ amounts }) => amounts['tokens'])).toEqual([0, 560]);
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
