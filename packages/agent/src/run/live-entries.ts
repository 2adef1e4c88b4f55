import type { AgentContext } from '../agent-definition.ts';
import type { Accounts } from '../agent-result.ts';
import type { FeedbackResult } from '../repo/feedback.ts';
import type { SdkMessage } from '../sdk/sdk-messages.ts';
import type { Redactor } from '../security/redactor.ts';
import type { TodoTime } from '../trace/todo-times.ts';
import type { ToolCall } from '../trace/tool-trace.ts';

const LONGEST_TEXT = 16_000;

/** What an agent does, in the words of the wire, as entries of its job's journal while it does it. Best effort: a missing entry fails nothing. */
export class LiveEntries {
  readonly #context: Pick<AgentContext, 'emit' | 'signal'>;
  readonly #redactor: Redactor;

  constructor(context: Pick<AgentContext, 'emit' | 'signal'>, redactor: Redactor) {
    this.#context = context;
    this.#redactor = redactor;
  }

  session(facts: { sessionId: string; isResumed: boolean; attempt: number }): void {
    const { sessionId, isResumed, attempt } = facts;
    this.#emit('agent.session', { session_id: sessionId, is_resumed: isResumed, attempt });
  }

  /** Texts of the agent and of its subagents, and what the CLI says of its requests. */
  hear(message: SdkMessage): void {
    if (message.type === 'assistant' && 'message' in message) {
      const { content } = message.message;
      for (const { type, text } of content) if (type === 'text' && text) this.#text(text, message.parent_tool_use_id);
    } else if (message.type === 'system' && 'subtype' in message && message.subtype === 'api_retry') {
      const { attempt, error_status, retry_delay_ms } = message;
      this.#emit('agent.api_retry', { attempt, status: error_status, delay_ms: Math.round(retry_delay_ms ?? 0) });
    }
  }

  tool(phase: 'started' | 'ended', { id, name, agent, input, outcome, durationMs, output }: ToolCall): void {
    const facts = { id, name, ...(agent !== undefined && { agent }) };
    if (phase === 'started') this.#emit('agent.tool.started', { ...facts, input });
    else this.#emit('agent.tool.ended', { ...facts, outcome, duration_ms: durationMs, output });
  }

  usage({ usage, costUsd, costBasis, turns }: Accounts): void {
    const { inputTokens, outputTokens, cacheReadTokens, cacheCreationTokens, cacheEfficiency } = usage;
    const tokens = {
      ...{ input_tokens: inputTokens, output_tokens: outputTokens, cache_read_tokens: cacheReadTokens },
      ...{ cache_creation_tokens: cacheCreationTokens, cache_efficiency: cacheEfficiency },
    };
    this.#emit('agent.usage', { usage: tokens, cost_usd: costUsd, cost_basis: costBasis, turns });
  }

  todos(todos: TodoTime[]): void {
    this.#emit('agent.todos', {
      todos: todos.map(({ content, state }) => ({ content: this.#redactor.text(content, 500), state })),
    });
  }

  repository({ isRestored, ...facts }: { url: string; commit: string; branch: string; isRestored: boolean }): void {
    this.#emit('agent.repository', { ...facts, is_restored: isRestored });
  }

  /** `round`: 0 is what the agent has done by itself. */
  feedback({ exitCode, durationMs, ...facts }: FeedbackResult & { round: number }): void {
    this.#emit('agent.feedback', { ...facts, exit_code: exitCode, duration_ms: durationMs });
  }

  retry({
    delayMs,
    ...facts
  }: {
    attempt: number;
    code: string;
    class: string;
    delayMs: number;
    message: string;
  }): void {
    this.#emit('agent.retry', { ...facts, delay_ms: delayMs });
  }

  #text(text: string, parent: string | null): void {
    this.#emit('agent.text', {
      text: this.#redactor.text(text, LONGEST_TEXT),
      ...(parent !== null && { parent_tool_use_id: parent }),
    });
  }

  #emit(name: string, data: object): void {
    this.#context.emit(name, data).catch(() => {});
  }
}
