import type { Json, JsonObject } from '@waybill/core';
import type { AgentContext, CheckedDefinition } from '../agent-definition.ts';
import { AgentError } from '../agent-error.ts';
import { accountsOf } from '../agent-result.ts';
import { guard, mergedHooks } from '../query/merged-hooks.ts';
import { missingTool } from '../query/missing-tool.ts';
import { failureOf, isPaused, isUnknownSession } from '../query/query-failure.ts';
import { queryOptions } from '../query/query-options.ts';
import { type QueryEnd, runQuery } from '../query/run-query.ts';
import type { SdkMessage } from '../sdk/sdk-messages.ts';
import type { AgentSdk, SdkHooks } from '../sdk/sdk-types.ts';
import type { Redactor } from '../security/redactor.ts';
import type { AgentSession } from '../session/agent-session.ts';
import { exceeded } from '../usage/budget.ts';
import type { KeptSpent } from '../usage/kept-spent.ts';
import type { SharedBudgets } from '../usage/shared-budgets.ts';
import type { Spent } from '../usage/spent.ts';
import { UsageMeter } from '../usage/usage-meter.ts';
import type { AgentOutside } from './outside.ts';
import { WITHOUT_OUTPUT, withProblems } from './prompts.ts';
import type { RunRecord } from './run-record.ts';

export interface AgentRunParts {
  checked: CheckedDefinition;
  context: AgentContext;
  outside: AgentOutside;
  worker: Readonly<Record<string, string | undefined>>;
  env: Record<string, string>;
  cwd: string;
  sdk: AgentSdk;
  session: AgentSession;
  spent: Spent;
  kept: KeptSpent;
  shared: SharedBudgets;
  record: RunRecord;
  redactor: Redactor;
  timeoutMs: number;
  /** Of this run, beside those of the task. */
  hooks?: SdkHooks;
}

const MAX_TURNS = 30;
const SILENCE_MS = 90_000;
/** How often an output that breaks its rules is asked for again, besides what the CLI does by itself. */
const MOST_ASKS = 2;

/** One attempt after another at the same conversation, counted together. */
export class AgentRun {
  /** Queries of the current attempt. */
  queries = 0;
  readonly #parts: AgentRunParts;
  #meter: UsageMeter;

  constructor(parts: AgentRunParts) {
    this.#parts = parts;
    this.#meter = this.#newMeter();
  }

  /** Asks until there is an output that follows the rules, and answers it; the text of the last answer where there are none. */
  async attempt(firstPrompt: string, number: number): Promise<unknown> {
    const { checked, session, record, timeoutMs } = this.#parts;
    const endsAt = performance.now() + timeoutMs;
    let isResumed = await session.hasBegun();
    let prompt = firstPrompt;
    let problems: string[] = [];
    this.queries = 0;
    record.entries.session({ sessionId: session.id, isResumed, attempt: number });
    for (let asks = 0; asks <= MOST_ASKS; asks += 1) {
      let end = await this.#query(prompt, isResumed, endsAt - performance.now());
      // A conversation of which too little was kept begins anew.
      if (isResumed && isUnknownSession(end)) end = await this.#query(prompt, false, endsAt - performance.now());
      const next = await this.#paused(end);
      if (next !== null) {
        [prompt, isResumed] = [next, true];
        asks -= 1;
        continue;
      }
      const result = this.#judged(end);
      if (checked.contract === null) return result.result ?? '';
      isResumed = true;
      if (result.structured_output === undefined) {
        problems = ['there is none'];
        prompt = WITHOUT_OUTPUT;
        continue;
      }
      const answer = await checked.contract.check(result.structured_output);
      if (answer.ok) return answer.value;
      problems = answer.problems;
      prompt = withProblems(problems);
    }
    const shown = this.#parts.redactor.text(problems.join('; '), 1_000);
    throw new AgentError('output_invalid', `The model gave no output that 'output' accepts: ${shown}.`, {
      retryable: false,
    });
  }

  /** With which prompt the run goes on after a hook has ended its query; null: by what the end itself says. */
  async #paused({ result, cause }: QueryEnd): Promise<string | null> {
    if (result === null || cause !== null || !isPaused(result)) return null;
    return (await this.#parts.outside.extension?.paused?.(result)) ?? null;
  }

  #judged(end: QueryEnd): NonNullable<QueryEnd['result']> {
    const failure = failureOf(end, this.#parts.redactor);
    if (failure !== null) throw failure;
    return end.result!;
  }

  async #query(prompt: string, isResumed: boolean, remainingMs: number): Promise<QueryEnd> {
    const { checked, context, session, spent, kept, shared, record, sdk, outside, hooks: own } = this.#parts;
    const { definition } = checked;
    await shared.check();
    const { turnsLeft, usdLeft } = this.#left();
    let blocked: AgentError | null = null;
    const guards = guard(async (tool, id) => {
      // The output costs nothing more.
      if (tool === 'StructuredOutput') return null;
      if (context.signal.aborted) return 'The run is over.';
      const used = await shared.settled(this.#meter.answered());
      blocked ??= this.#overBudget() ?? used;
      if (blocked !== null) return blocked.message;
      // A run that is killed while the tool works must not have forgotten what it has used, or that it made the call.
      await kept.saved();
      return (await session.keeps(id)) ? null : 'The conversation could not be kept.';
    });
    const { extension } = outside;
    const ofTask = extension?.ofTask === undefined ? definition.hooks : extension.ofTask(definition.hooks);
    const hooks = mergedHooks(guards, record.tools.hooks, record.todos.hooks, own, extension?.hooks, ofTask);
    const options = queryOptions({
      ...this.#parts,
      ...{ hooks, turnsLeft, usdLeft },
      session: { id: session.id, isResumed, store: session.store },
    });
    const added = extension?.mcpServers?.(sdk);
    if (added !== undefined) options.mcpServers = { ...options.mcpServers, ...added };
    if (extension?.tools !== undefined) options.allowedTools = [...(options.allowedTools ?? []), ...extension.tools];
    this.#meter = this.#newMeter();
    this.queries += 1;
    const end = await runQuery({
      ...{ sdk, prompt, options, remainingMs, timeoutMs: this.#parts.timeoutMs },
      signal: context.signal,
      silenceMs: definition.silence ?? SILENCE_MS,
      isBusy: () => record.tools.running > 0,
      hear: (message) => this.#hear(message),
      onStoreFailure: (callback) => session.onFailure(() => callback(session.failure!.error)),
    });
    record.tools.forgetRunning();
    spent.add(this.#meter.byModel, this.#meter.turns, end.result?.modelUsage);
    this.#meter = this.#newMeter();
    this.#checkpoint();
    shared.report(spent.totals());
    record.entries.usage(accountsOf(spent.totals()));
    return end.cause === null && blocked !== null ? { ...end, cause: { kind: 'failed', error: blocked } } : end;
  }

  /** The CLI counts its own query only. */
  #left(): { turnsLeft: number; usdLeft: number | null } {
    const { definition } = this.#parts.checked;
    const over = this.#overBudget();
    if (over !== null) throw over;
    const { turns, costUsd } = this.#parts.spent.totals();
    const { maxTurns = MAX_TURNS, budget = {}, prices } = definition;
    if (turns >= maxTurns) {
      const message = `The agent has taken ${turns} turns of ${maxTurns} in all runs of the job. Raise 'maxTurns' and retry the job.`;
      throw new AgentError('max_turns', message, { retryable: false, details: { turns } });
    }
    // The CLI has prices of its own, which say nothing about other terms.
    const usdLeft = budget.usd === undefined || prices !== undefined ? null : budget.usd - costUsd;
    return { turnsLeft: maxTurns - turns, usdLeft };
  }

  #hear(message: SdkMessage): AgentError | null {
    const { tools, entries } = this.#parts.record;
    tools.hear(message);
    entries.hear(message);
    const missing = missingTool(this.#parts.checked.definition.tools, message);
    if (missing !== null) return missing;
    const heard = this.#meter.hear(message);
    if (heard === 'same') return null;
    if (heard === 'ended') {
      this.#parts.shared.report(this.#totals());
      this.#checkpoint();
      entries.usage(accountsOf(this.#totals()));
    }
    // After the last answer nothing more is spent.
    return heard === 'ended' && this.#meter.isLastAnswer ? null : this.#overBudget();
  }

  #totals(): ReturnType<Spent['totals']> {
    return this.#parts.spent.totals(this.#meter.byModel, this.#meter.turns);
  }

  #newMeter(): UsageMeter {
    return new UsageMeter(this.#parts.checked.definition.prices);
  }

  #overBudget(): AgentError | null {
    return exceeded(this.#parts.checked.definition.budget ?? {}, this.#totals());
  }

  /** With what the current query has used: a run that is killed must not get its budget anew. */
  #checkpoint(): void {
    const { spent, kept, context } = this.#parts;
    const now = spent.copy();
    now.add(this.#meter.byModel, this.#meter.turns);
    kept.save(now.state);
    context.checkpoint({ spent: now.state as unknown as Json } as JsonObject);
  }
}
