import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BudgetInfo, engine, type Job, type Spending, silentLogger } from '@waybill/core';
import { memoryStore } from '@waybill/core/testing';
import { RunFailure, task, Worker } from '@waybill/worker';
import { expect, onTestFinished, test } from 'vitest';
import type { AgentError } from '../src/agent-error.ts';
import { runAgent } from '../src/run-agent.ts';
import { answers, calls, folderFiles, says } from '../src/testing/index.ts';
import { folder, model, OUTPUT, start } from './testing/agent.ts';
import { pidIn } from './testing/processes.ts';

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

const ENDS_AT = Date.UTC(2030, 0, 1);
const MONTH: BudgetInfo = {
  ...{ id: 'usd:month', tenant: 'acme', key: null, unit: 'usd', period: 'month' as const },
  ...{ limit: 1, spent: 1.5, left: 0, isExceeded: true, endsAt: ENDS_AT },
};
const usedUp = (...exceeded: BudgetInfo[]): Spending => ({ budgets: exceeded, exceeded });
const OPEN: Spending = { budgets: [], exceeded: [] };

test('each answer of the model is told once, under the key that the task chooses, and resumes tell only what is new', async () => {
  const files = folderFiles(await folder());
  const definition = { output: OUTPUT, budget: { key: (input: unknown) => (input as { customer: string }).customer } };
  const tool = calls('Bash', { command: 'echo 1' }).using({ inputTokens: 300, outputTokens: 40 });
  const options = { files, input: { customer: 'ada' } };
  const agent = await start([tool, answers({ files: 1 }).using({ inputTokens: 500, outputTokens: 60 })], definition, {
    ...options,
  });
  await agent.result;
  const { expenses, saved } = agent.context;
  expect(expenses.map(({ amounts, key }) => [amounts['tokens'], key])).toEqual([
    [0, 'ada'],
    [340, 'ada'],
    [560, 'ada'],
  ]);
  const spent = expenses.reduce((sum, { amounts }) => sum + amounts['usd']!, 0);
  expect(spent).toBeCloseTo((await agent.result).costUsd, 8);

  const next = await start([answers({ files: 1 }).using({ inputTokens: 10, outputTokens: 1 })], definition, {
    ...{ ...options, files: folderFiles(await folder()), run: 2, lastCheckpoint: saved },
  });
  expect((await next.result).usage).toMatchObject({ inputTokens: 810 });
  expect(next.context.expenses.map(({ amounts }) => amounts['tokens'])).toEqual([0, 11]);
});

test('a budget that is used up already refuses the job before its first request', async () => {
  const agent = await start([says('x')], {}, { spend: () => usedUp(MONTH) });
  expect(await agent.failure()).toMatchObject({
    ...{ code: 'budget_exceeded', retryable: false },
    details: { budget: 'tenant', budget_id: 'usd:month', limit: 1, spent: 1.5, ends_at: '2030-01-01T00:00:00.000Z' },
  });
  expect(String(await agent.failure())).toContain('It begins anew at 2030-01-01T00:00:00.000Z');
  expect(agent.model.requests).toEqual([]);
});

test('a budget that the answer of the model uses up stops its tool, and the error names the key', async () => {
  const ofKey = { ...MONTH, id: 'usd:total:ada', key: 'ada', period: 'total' as const, endsAt: null };
  let asked = 0;
  const spend = () => (asked++ === 0 ? OPEN : usedUp(MONTH, ofKey));
  const agent = await start([calls('Bash', { command: 'touch made.txt' }).always()], {}, { spend });
  const details = { budget: 'key', key: 'ada', ends_at: null };
  expect(await agent.failure()).toMatchObject({ code: 'budget_exceeded', details });
  expect(agent.model.requests).toHaveLength(1);
  expect(await exists(join(agent.cwd, 'made.txt'))).toBe(false);
});

test("whenExceeded 'wait' puts the run off until the period ends; one that never ends fails", async () => {
  const budget = { whenExceeded: 'wait' as const };
  const waits = await start([says('x')], { budget }, { spend: () => usedUp(MONTH) });
  await waits.failure();
  expect(waits.context.snoozed).toEqual(new Date(ENDS_AT));
  const fails = await start([says('x')], { budget }, { spend: () => usedUp({ ...MONTH, endsAt: null }, MONTH) });
  expect(await fails.failure()).toMatchObject({ code: 'budget_exceeded' });
  expect(fails.context.snoozed).toBeNull();
});

test('an engine that cannot be reached stops no agent, and is warned of once', async () => {
  const spend = () => Promise.reject(new Error('The server is away.'));
  const agent = await start([calls('Bash', { command: 'echo 1' }), says('Done.')], {}, { spend });
  expect(await agent.result).toMatchObject({ output: 'Done.' });
  expect(agent.context.logs.filter(({ message }) => message.includes('Budgets'))).toHaveLength(1);
});

test('two jobs of one tenant on two workers: what one has used stops the other within one turn', async () => {
  const store = memoryStore();
  const servers = [engine({ store, logger: silentLogger }), engine({ store, logger: silentLogger })] as const;
  const cwd = await folder();
  const at = { tenant: 'acme' };
  // The first job uses 700 and waits in its tool; 600 of the second are too much then, and 300 more of the first.
  const asked = await model((request) => {
    if (request.prompts[0] === 'second') {
      return calls('Bash', { command: 'touch second.txt' }).using({ inputTokens: 500, outputTokens: 100 });
    }
    return request.hasToolResult()
      ? calls('Bash', { command: 'touch again.txt' }).using({ inputTokens: 250, outputTokens: 50 })
      : calls('Bash', { command: 'echo $$ > first.txt; until [ -e go ]; do sleep 0.1; done', timeout: 60_000 }).using({
          ...{ inputTokens: 600, outputTokens: 100 },
        });
  });
  await servers[0].budgets.set({ unit: 'tokens', period: 'total', limit: 1_250 }, at);
  const env = { PATH: process.env['PATH'], TMPDIR: await folder(), ...asked.env };
  const outside = { retryBaseMs: 20, env, cwd, module: import.meta.url };
  const ask = task('agent.ask', {
    retry: { max_attempts: 3 },
    // As agentTask does.
    run: (prompt: string, context) =>
      runAgent({ name: 'agent.ask', prompt, tools: ['Bash'] }, {}, context, outside).catch((error: AgentError) => {
        const { code, message, retryable, details } = error;
        throw new RunFailure({ code, message, retryable, details: { ...details } });
      }),
  });
  const workers = servers.map(
    ({ jobs, events }) => new Worker({ ...at, jobs, events, tasks: [ask], concurrency: 1, logger: silentLogger }),
  );
  onTestFinished(async () => {
    await Promise.all(workers.map((worker) => worker.stop()));
    await Promise.all(servers.map((server) => server.close()));
  });
  const enqueue = async (prompt: string): Promise<string> =>
    (await servers[0].jobs.enqueue({ type: 'agent.ask', args: [prompt] }, at)).job.id;
  const ended = async (id: string): Promise<Job> => {
    const over = new AbortController();
    const filter = { ...at, jobIds: [id], types: ['job.discarded', 'job.completed', 'job.retrying'] as const };
    for await (const _ of servers[0].events.follow({ filter, after: '0', signal: over.signal })) break;
    over.abort();
    return servers[0].jobs.get(id, at);
  };
  const errorOf = ({ state, errors }: Job) => ({ state, error: errors.at(-1) });
  const refused = { state: 'discarded', error: { code: 'budget_exceeded', details: { budget: 'tenant' } } };

  workers[0]!.start();
  const first = await enqueue('first');
  await pidIn(join(cwd, 'first.txt'));
  workers[1]!.start();
  const second = await ended(await enqueue('second'));
  expect(errorOf(second)).toMatchObject(refused);
  expect(asked.requests.filter(({ prompts }) => prompts[0] === 'second')).toHaveLength(1);
  expect(await exists(join(cwd, 'second.txt'))).toBe(false);

  await writeFile(join(cwd, 'go'), '');
  expect(errorOf(await ended(first))).toMatchObject(refused);
  expect(asked.requests.filter(({ prompts }) => prompts[0] === 'first')).toHaveLength(2);
  expect(await exists(join(cwd, 'again.txt'))).toBe(false);

  const before = asked.requests.length;
  expect(errorOf(await ended(await enqueue('third')))).toMatchObject(refused);
  expect(asked.requests).toHaveLength(before);
  expect(await servers[1].budgets.get('tokens:total', at)).toMatchObject({ spent: 1_600, left: 0 });
});
