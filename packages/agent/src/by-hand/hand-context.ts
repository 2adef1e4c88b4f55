import { type Job, type JsonObject, newJobId, WaybillError } from '@waybill/core';
import type { AgentContext } from '../agent-definition.ts';
import { memoryFiles } from '../run-files.ts';

export interface HandContextParts {
  type: string;
  signal: AbortSignal;
  /** Hears what a worker would put into the journal. */
  hear(entry: { type: string; data: unknown }): void;
  warn(message: string): void;
}

/** The context of a run that no worker has started: a job of its own that no store knows. */
export function handContext({ type, signal, hear, warn }: HandContextParts): AgentContext {
  const job = { id: newJobId(Date.now()), run: 1, attempt: 1, type, tenant: '', spec: { args: [], meta: {} } };
  return {
    job: { ...job, timeoutMs: null } as unknown as Job,
    ...{ attempt: 1, parentResults: [], lastCheckpoint: null, signal },
    files: memoryFiles(),
    emit: async (name: string, data?: unknown) => hear({ type: name, data: data ?? null }),
    checkpoint: (_: JsonObject) => {},
    // No engine, so there are no budgets to share.
    spend: async () => ({ budgets: [], exceeded: [] }),
    snooze: () => {
      throw new Error('A run by hand cannot be put off, because no worker would run it again.');
    },
    ask: async ({ text }) => {
      const message = `The agent asks a person, and a run by hand has nobody who could answer: ${text.slice(0, 500)}`;
      throw new WaybillError('unsupported', message, {
        hint: 'Enqueue it as a job, and answer with waybill questions.',
      });
    },
    log: (message, _, { level = 'info' } = {}) => {
      if (level === 'warn' || level === 'error') warn(message);
    },
  };
}
