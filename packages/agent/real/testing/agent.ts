import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import type { AgentDefinition } from '../../src/agent-definition.ts';
import type { AgentResult } from '../../src/agent-result.ts';
import type { AgentOutside } from '../../src/run/outside.ts';
import { runAgent } from '../../src/run-agent.ts';
import {
  type FakeModel,
  type FakeModelOptions,
  fakeModel,
  RecordedContext,
  type RecordedContextOptions,
  type Script,
} from '../../src/testing/index.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

export async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'waybill-real-'));
  cleanups.push(() => rm(path, { recursive: true, force: true }));
  return path;
}

export async function model(turns: Script, options: Omit<FakeModelOptions, 'turns'> = {}): Promise<FakeModel> {
  const started = await fakeModel({ turns, ...options });
  cleanups.push(() => started.close());
  return started;
}

export interface Agent {
  model: FakeModel;
  context: RecordedContext;
  cwd: string;
  /** Rejects with what the run throws. */
  result: Promise<AgentResult>;
  /** What was thrown; undefined where nothing was. */
  failure(): Promise<unknown>;
  /** A file of `.output/{requestId}`. */
  file(name: string): Promise<string>;
}

export interface AgentOptions extends RecordedContextOptions, Omit<AgentOutside, 'env'> {
  env?: Record<string, string | undefined>;
  model?: FakeModel;
  input?: unknown;
}

export { OUTPUT } from './output.ts';

/** Starts an agent with the real SDK on a fake model. */
export async function start(
  turns: Script,
  definition: Partial<AgentDefinition> = {},
  options: AgentOptions = {},
): Promise<Agent> {
  const asked = options.model ?? (await model(turns));
  const context = new RecordedContext(options);
  const cwd = options.cwd ?? (await folder());
  const full: AgentDefinition = { name: 'agent.test', prompt: 'Count the files.', tools: ['Bash'], ...definition };
  const env = { PATH: process.env['PATH'], TMPDIR: await folder(), ...asked.env, ...options.env };
  const outside: AgentOutside = { retryBaseMs: 20, ...options, env, cwd, module: import.meta.url };
  const result = runAgent(full, options.input ?? {}, context, outside);
  const failure = result.then(
    () => undefined,
    (error: unknown) => error,
  );
  return {
    ...{ model: asked, context, cwd, result },
    failure: () => failure,
    file: (name) => readFile(join(cwd, '.output', context.job.id, name), 'utf8'),
  };
}
