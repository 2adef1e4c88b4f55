import type { AgentContext } from '../agent-definition.ts';
import { type AgentResult, accountsOf } from '../agent-result.ts';
import type { FeedbackResult } from '../repo/feedback.ts';
import type { RunFiles } from '../run-files.ts';
import type { Redactor } from '../security/redactor.ts';
import { type AttemptTrace, type SessionTrace, toolTotals, withMoment } from '../trace/session-trace.ts';
import { TodoTimes } from '../trace/todo-times.ts';
import { ToolTrace } from '../trace/tool-trace.ts';
import type { Spent } from '../usage/spent.ts';
import { totalTokens } from '../usage/token-usage.ts';
import { MOST_ATTEMPTS, type Retry } from './attempts.ts';
import { LiveEntries } from './live-entries.ts';
import type { RunFolder } from './run-folder.ts';

const LONGEST_ERROR = 2_000;

export interface RunRecordParts {
  task: string;
  sessionId: string;
  context: AgentContext;
  folder: RunFolder;
  redactor: Redactor;
}

/** Everything that a run says of itself: journal entries while it goes on, a summary for people, and a trace at its end. */
export class RunRecord {
  readonly entries: LiveEntries;
  readonly tools: ToolTrace;
  readonly todos: TodoTimes;
  readonly attempts: AttemptTrace[] = [];
  readonly startedAt = Date.now();
  readonly #parts: RunRecordParts;

  constructor(parts: RunRecordParts) {
    const { context, folder, redactor, task, sessionId } = parts;
    this.#parts = parts;
    this.entries = new LiveEntries(context, redactor);
    this.tools = new ToolTrace(redactor, (phase, call) => {
      this.entries.tool(phase, call);
      if (phase === 'ended') folder.note(`tool ${call.name} ${call.outcome} after ${call.durationMs} ms`);
    });
    this.todos = new TodoTimes((todos) => this.entries.todos(todos));
    folder.note(`task ${task}, job ${context.job.id}, run ${context.job.run}, session ${sessionId}`);
  }

  get durationMs(): number {
    return Date.now() - this.startedAt;
  }

  describe(error: unknown): { code: string; message: string } {
    // What is no Error leaves the run for another outcome, as `context.ask` and `context.snooze` do.
    if (!(error instanceof Error)) return { code: 'paused', message: 'The run has ended, and the job waits.' };
    const { code = 'error', message } = error as Error & { code?: unknown };
    return { code: String(code), message: this.#parts.redactor.text(String(message), LONGEST_ERROR) };
  }

  retry({ attempt, error, verdict, delayMs }: Retry): void {
    const { code, message } = this.describe(error);
    const { folder, context } = this.#parts;
    this.entries.retry({ attempt, code, class: verdict.class, delayMs, message });
    folder.note(`attempt ${attempt} failed with ${code}: ${message} Next attempt in ${delayMs} ms.`);
    context.log(`Agent attempt ${attempt} of ${MOST_ATTEMPTS} failed.`, { code, delayMs }, { level: 'warn' });
  }

  feedback(result: FeedbackResult, round: number): void {
    this.entries.feedback({ ...result, round });
    const { name, passed, durationMs } = result;
    this.#parts.folder.note(`feedback ${name} ${passed ? 'passed' : 'failed'} after ${durationMs} ms, round ${round}`);
  }

  async writePatch(patch: Uint8Array): Promise<void> {
    await this.#parts.folder.writePatch(patch);
  }

  async completed(result: AgentResult): Promise<void> {
    const { folder } = this.#parts;
    const tokens = totalTokens({ ...result.usage, cacheCreation1hTokens: 0 });
    await folder.writeResult(result);
    folder.note(`completed: ${result.turns} turns, ${tokens} tokens, ${result.costUsd} USD`);
  }

  failed(error: unknown): void {
    const { code, message } = this.describe(error);
    this.#parts.folder.note(`ended with ${code}: ${message}`);
  }

  /** Writes the trace, and keeps the files of the run with the job. The run has its end already, so it never fails. */
  async close(spent: Spent, files: RunFiles, deletesFolder: boolean): Promise<void> {
    const { folder, context } = this.#parts;
    try {
      await folder.writeTrace(this.#trace(spent));
      await folder.keepIn(files);
      if (deletesFolder) await folder.remove();
    } catch (error) {
      context.log('Could not keep the files of the agent run.', this.describe(error), { level: 'warn' });
    } finally {
      folder.close();
    }
  }

  #trace(spent: Spent): SessionTrace {
    const { task, context, sessionId } = this.#parts;
    const { calls } = this.tools;
    return {
      version: 1,
      ...{ task, jobId: context.job.id, run: context.job.run, sessionId },
      startedAt: new Date(this.startedAt).toISOString(),
      durationMs: this.durationMs,
      ...accountsOf(spent.totals()),
      attempts: this.attempts,
      toolCalls: calls.map(withMoment),
      toolTotals: toolTotals(calls),
      todos: this.todos.times(),
    };
  }
}
