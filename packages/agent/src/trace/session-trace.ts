import type { Accounts } from '../agent-result.ts';
import type { TodoTime } from './todo-times.ts';
import type { ToolCall } from './tool-trace.ts';

/** One attempt of the step. */
export interface AttemptTrace {
  startedAt: string;
  durationMs: number;
  /** Questions to the CLI: more than one where the output was asked for again. */
  queries: number;
  /** Null: it came to a result. */
  error: { code: string; message: string } | null;
}

/** `traces/session_trace.json`. */
export interface SessionTrace extends Accounts {
  version: 1;
  task: string;
  jobId: string;
  run: number;
  sessionId: string;
  startedAt: string;
  durationMs: number;
  attempts: AttemptTrace[];
  toolCalls: (Omit<ToolCall, 'startedAt'> & { startedAt: string })[];
  /** By name, longest in total first. */
  toolTotals: { name: string; calls: number; failed: number; durationMs: number }[];
  todos: TodoTime[];
}

export function toolTotals(calls: readonly ToolCall[]): SessionTrace['toolTotals'] {
  const totals = [...Map.groupBy(calls, ({ name }) => name)].map(([name, all]) => ({
    name,
    calls: all.length,
    failed: all.filter(({ outcome }) => outcome === 'failed').length,
    durationMs: all.reduce((sum, { durationMs }) => sum + (durationMs ?? 0), 0),
  }));
  return totals.sort((a, b) => b.durationMs - a.durationMs);
}

export const withMoment = ({ startedAt, ...call }: ToolCall): SessionTrace['toolCalls'][number] => ({
  ...call,
  startedAt: new Date(startedAt).toISOString(),
});
