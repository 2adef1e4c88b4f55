import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startCloud } from '@waybill/aws/cloud';
import type { JournalEntry } from '@waybill/core';
import { expect, onTestFinished, test } from 'vitest';
import { answers, calls } from '../src/testing/index.ts';
import { folder, model } from './testing/agent.ts';
import { counting } from './testing/counting-task.ts';
import { ENDLESS, gone, pidIn } from './testing/processes.ts';
import { ended, type Place, type RealWorker, realWorker } from './testing/real-worker.ts';

const onSqlite = async (): Promise<Place> => {
  const path = await folder();
  return { store: `sqlite:${join(path, 'jobs.db')}`, blobs: `file:${join(path, 'blobs')}` };
};

/** Rows in DynamoDB, hints over SQS, transcripts in S3: a cloud on loopback. */
async function overSqs(): Promise<Place> {
  const cloud = await startCloud();
  onTestFinished(() => cloud.stop());
  const { WAYBILL_STORE: store, WAYBILL_TRANSPORT: transport, WAYBILL_BLOBS: blobs, ...env } = cloud.env;
  return { store: store!, transport: transport!, blobs: blobs!, env };
}

/** Accepted nowhere but where Java is missing. */
const lacksJava = spawnSync('java', ['-version']).status !== 0 && process.env['CI'] !== 'true';

async function journalOf({ waybill }: RealWorker, id: string, type: string): Promise<JournalEntry[]> {
  return (await waybill.jobs.journal(id, { types: [type], limit: 1_000 })).entries;
}

// fault: the worker is killed with SIGKILL while a tool of its agent runs
test.for<[name: string, isMissing: boolean, place: () => Promise<Place>]>([
  ['on SQLite', false, onSqlite],
  ['over SQS', lacksJava, overSqs],
])(
  'kill -9 of the worker in mid-agent: the next run resumes the session and finishes, %s',
  async ([, isMissing, place], { skip }) => {
    skip(isMissing, 'needs Java 17');
    const asked = await model([
      calls('Bash', { command: ENDLESS, timeout: 600_000 }).using({ inputTokens: 300, outputTokens: 40 }),
      answers({ files: 3 }).using({ inputTokens: 500, outputTokens: 60 }),
    ]);
    const parts = await realWorker(await place(), asked);
    const first = await parts.start();
    const job = await parts.waybill.enqueue(counting, {});
    const tool = await pidIn(join(parts.cwd, 'pid.txt'));
    const stream = parts.waybill.jobs.follow(job.id, { types: ['agent.usage'] });
    // What was used is in the row before the worker dies, as it would be after a moment of any tool.
    for await (const _ of stream) break;
    await ended(first, 'SIGKILL');
    await gone(tool);
    expect(asked.requests).toHaveLength(1);

    await parts.start();
    const result = await parts.waybill.wait(job, { timeoutMs: 90_000 });
    expect(result).toMatchObject({ output: { files: 3 }, turns: 2, sessionId: job.id });
    const row = await parts.waybill.jobs.get(job.id);
    expect(row).toMatchObject({ state: 'completed', run: 2 });
    expect(row.errors).toMatchObject([{ code: 'visibility_timeout' }]);
    const [before, after] = asked.requests;
    expect(asked.requests).toHaveLength(2);
    expect(after!.sessionId).toBe(before!.sessionId);
    expect(after!.prompts[0]).toBe('Count the files.');
    expect(after!.prompt).toContain('The worker restarted');
    const sessions = await journalOf(parts, job.id, 'agent.session');
    expect(sessions.map(({ run, data }) => [run, (data as { is_resumed: boolean }).is_resumed])).toEqual([
      [1, false],
      [2, true],
    ]);
  },
);

test('a job that is cancelled has no tool and no process left within five seconds', async () => {
  const asked = await model([calls('Bash', { command: ENDLESS, timeout: 600_000 }).always()]);
  const parts = await realWorker(await onSqlite(), asked);
  await parts.start();
  const job = await parts.waybill.enqueue(counting, {});
  const tool = await pidIn(join(parts.cwd, 'pid.txt'));
  const before = performance.now();
  await parts.waybill.jobs.cancel(job.id);
  await gone(tool, 5_000);
  expect(performance.now() - before).toBeLessThan(5_000);
  expect(asked.requests).toHaveLength(1);
  expect((await parts.waybill.jobs.get(job.id)).state).toBe('cancelled');
});

test('a job whose budget is exceeded stops within one turn, and is given up', async () => {
  const turn = calls('Bash', { command: 'echo 1 >> turns.txt' }).using({ inputTokens: 20_000, outputTokens: 100 });
  const asked = await model([turn.always()]);
  const parts = await realWorker(await onSqlite(), asked);
  await parts.start();
  const job = await parts.waybill.enqueue(counting, {});
  await expect(parts.waybill.wait(job, { timeoutMs: 90_000 })).rejects.toThrow('budget of 50000 tokens');
  // The third answer exceeds it, so its tool does not run and there is no fourth.
  expect(asked.requests).toHaveLength(3);
  expect(await readFile(join(parts.cwd, 'turns.txt'), 'utf8')).toBe('1\n1\n');
  const { state, run, errors } = await parts.waybill.jobs.get(job.id);
  expect({ state, run, errors }).toMatchObject({ state: 'discarded', run: 1, errors: [{ code: 'budget_exceeded' }] });
});
