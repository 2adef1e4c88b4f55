import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { type Connection, connect } from 'waybill';
import { answers, calls, type FakeModel } from '../src/testing/index.ts';
import { folder, model } from './testing/agent.ts';
import { asking } from './testing/asking-agent.ts';

/** Isolated runs have a low priority: on a busy machine Claude Code takes a minute to start, and it starts three times. */
const PATIENT = { timeout: 400_000 };
const CHILD = fileURLToPath(new URL('./testing/worker-child.ts', import.meta.url));

function startWorker(store: string, blobs: string, cwd: string, asked: FakeModel): ChildProcess {
  const env = { PATH: process.env['PATH'], TMPDIR: cwd, HOME: cwd, ...asked.env };
  const child = spawn(process.execPath, [CHILD, store, blobs], { cwd, env, stdio: ['ignore', 'ignore', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** Resolves when the log has told this of the job for the n-th time. */
async function happened({ events }: Connection, id: string, type: 'job.snoozed' | 'job.completed', times = 1) {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  let left = times;
  for await (const event of events.follow({ filter: { jobIds: [id], types: [type] }, signal: stop.signal })) {
    left -= 1;
    if (left === 0) return event;
  }
  throw new Error('The log has ended.');
}

/** Nothing tells of it, and the worker is another process, so it is looked at. */
async function asleepUntil({ jobs }: Connection, id: string, moment: number): Promise<void> {
  const end = performance.now() + 10_000;
  while ((await jobs.get(id)).scheduledAt !== moment) {
    if (performance.now() > end) throw new Error('The sleep of the job was not confirmed within 10 s.');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test(
  'kill -9 of the worker between question and answer: another one resumes the session, and then makes the approved call',
  PATIENT,
  async () => {
    const [place, cwd] = [await folder(), await folder()];
    const [store, blobs] = [`sqlite:${join(place, 'waybill.db')}`, `file:${join(place, 'blobs')}`];
    const asked = await model([
      calls('mcp__waybill__ask_human', { question: 'Which folder?', choices: ['src', 'test'] }),
      calls('Bash', { command: 'echo made >> made.txt' }).when(({ prompt }) => prompt.includes('question: src')),
      calls('Bash', { command: 'echo made >> made.txt' }).when(({ prompt }) => prompt.includes('approved your call')),
      answers({ files: 2 }).when((request) => request.toolResult('Bash')?.isError === false),
    ]);
    const waybill = await connect(store, { blobs });
    onTestFinished(() => waybill.close());
    const { id } = await waybill.enqueue(asking, {});
    const open = async () => (await waybill.questions.list({ jobId: id, status: 'open' })).items[0]!;

    const first = startWorker(store, blobs, cwd, asked);
    await happened(waybill, id, 'job.snoozed');
    await kill(first);
    const question = await open();
    expect(question).toMatchObject({ text: 'Which folder?', choices: ['src', 'test'] });
    expect(asked.requests).toHaveLength(1);
    await waybill.questions.answer(question.id, { choice: 'src' });

    const second = startWorker(store, blobs, cwd, asked);
    await happened(waybill, id, 'job.snoozed', 2);
    const approval = await open();
    // This time the worker dies when the job sleeps for as long as the question is open.
    await asleepUntil(waybill, id, approval.expiresAt);
    await kill(second);
    expect(approval).toMatchObject({ choices: ['approve', 'deny'], details: { tool: 'Bash' } });
    await expect(readFile(join(cwd, 'made.txt'))).rejects.toThrow();
    await waybill.questions.answer(approval.id, { choice: 'approve' });

    startWorker(store, blobs, cwd, asked);
    await happened(waybill, id, 'job.completed');
    const { result, attempt, run } = await waybill.jobs.get(id);
    expect(result).toMatchObject({ output: { files: 2 }, turns: 4 });
    expect({ attempt, run }).toEqual({ attempt: 1, run: 3 });
    expect(await readFile(join(cwd, 'made.txt'), 'utf8')).toBe('made\n');
    expect(new Set(asked.requests.map(({ sessionId }) => sessionId)).size).toBe(1);
  },
);
