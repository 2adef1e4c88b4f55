import type { Json } from '@waybill/core';
import type { SdkMessage } from '../sdk/sdk-messages.ts';
import type { SdkHooks } from '../sdk/sdk-types.ts';
import type { Redactor } from '../security/redactor.ts';

export interface ToolCall {
  id: string;
  name: string;
  /** Milliseconds since 1970. */
  startedAt: number;
  durationMs: number | null;
  /** 'open': the agent was stopped while the tool ran. 'refused': a hook or the permissions did not let it run. */
  outcome: 'open' | 'completed' | 'failed' | 'refused';
  /** Of a subagent's call. */
  agent?: string;
  input: Json;
  output: Json;
}

/** Characters of the input and of the output of a call that are kept. */
const LONGEST = 4_000;
/** A session that calls more tools is told of up to here. */
const MOST_CALLS = 2_000;

export type ToolListener = (phase: 'started' | 'ended', call: ToolCall) => void;

interface PreInput {
  tool_name: string;
  tool_input: unknown;
  tool_use_id: string;
  agent_id?: string;
}
type PostInput = PreInput & { tool_response?: unknown; error?: unknown; duration_ms?: number };

/** Follows the tool calls of a query by hooks: what was called, for how long, and what came of it. */
export class ToolTrace {
  readonly calls: ToolCall[] = [];
  readonly #open = new Map<string, ToolCall>();
  readonly #redactor: Redactor;
  readonly #listener: ToolListener;

  constructor(redactor: Redactor, listener: ToolListener) {
    this.#redactor = redactor;
    this.#listener = listener;
  }

  /** Calls that run now. */
  get running(): number {
    return this.#open.size;
  }

  /** A query is over: what has not ended never will. */
  forgetRunning(): void {
    this.#open.clear();
  }

  get hooks(): SdkHooks {
    const hook = (hear: (input: PostInput) => void) => [
      {
        hooks: [
          async (input: PostInput) => {
            hear(input);
            return {};
          },
        ],
      },
    ];
    return {
      PreToolUse: hook((input) => this.#start(input)),
      PostToolUse: hook((input) => this.#finish(input, 'completed', input.tool_response)),
      PostToolUseFailure: hook((input) => this.#finish(input, 'failed', input.error)),
    };
  }

  /** A call that was refused gets no hook behind it, but a result among the messages. */
  hear(message: SdkMessage): void {
    if (message.type !== 'user' || !('message' in message) || typeof message.message.content === 'string') return;
    for (const { type, tool_use_id: id, is_error, content } of message.message.content) {
      const call = type === 'tool_result' && id !== undefined ? this.#open.get(id) : undefined;
      if (call !== undefined) this.#close(call, is_error === true ? 'refused' : 'completed', content, undefined);
    }
  }

  #start({ tool_name: name, tool_input, tool_use_id: id, agent_id }: PreInput): void {
    const input = this.#redactor.value(tool_input ?? null, LONGEST);
    const times = { startedAt: Date.now(), durationMs: null, outcome: 'open' as const };
    const call: ToolCall = {
      id,
      name,
      ...times,
      ...(agent_id !== undefined && { agent: agent_id }),
      input,
      output: null,
    };
    this.#open.set(id, call);
    if (this.calls.length < MOST_CALLS) this.calls.push(call);
    this.#listener('started', call);
  }

  #finish(input: PostInput, outcome: 'completed' | 'failed', output: unknown): void {
    const call = this.#open.get(input.tool_use_id);
    if (call !== undefined) this.#close(call, outcome, output, input.duration_ms);
  }

  #close(call: ToolCall, outcome: ToolCall['outcome'], output: unknown, durationMs: number | undefined): void {
    this.#open.delete(call.id);
    call.outcome = outcome;
    call.durationMs = Math.round(durationMs ?? Date.now() - call.startedAt);
    call.output = this.#redactor.value(output ?? null, LONGEST);
    this.#listener('ended', call);
  }
}
