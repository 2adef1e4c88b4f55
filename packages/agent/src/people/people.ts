import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '@waybill/core';
import type { Answer, AskOptions } from '@waybill/worker';
import type { AgentContext } from '../agent-definition.ts';
import { mergedHooks } from '../query/merged-hooks.ts';
import type { AgentExtension } from '../run/outside.ts';
import type { RunFiles } from '../run-files.ts';
import type { HookAnswer, SdkHooks } from '../sdk/sdk-types.ts';
import type { Redactor } from '../security/redactor.ts';
import { ASK_TOOL, askInput, askServer } from './ask-server.ts';
import type { Pending } from './pending.ts';
import { type ApprovalRule, type AskHumanOptions, approvalRules, type PeopleDefinition } from './people-options.ts';
import { answeredPrompt } from './prompts.ts';

/** What the runs of a session must know of it. */
interface State {
  /** What was asked, until the agent has gone on with the answer. */
  pending: Pending | null;
  /** The one call that a person has approved and that was not made yet. */
  grant: Pick<Pending, 'tool' | 'input'> | null;
}

export const APPROVE = 'approve';
const DENY = 'deny';
const LONGEST_SUMMARY = 2_000;
const LONGEST_QUESTION = 8_000;
const LONGEST_INPUT = 24_000;
/** In seconds. A call waits so long for what was decided to be kept. */
const HOOK_TIMEOUT = 30;

export interface PeopleParts {
  definition: PeopleDefinition & { name: string };
  context: Pick<AgentContext, 'ask'>;
  files: RunFiles;
  sessionId: string;
  redactor: Redactor;
}

interface ToolInput {
  tool_name: string;
  tool_input: unknown;
  tool_use_id: string;
}

/** Lets an agent ask people, and makes its dangerous calls wait for their approval. */
export class People implements AgentExtension {
  readonly hooks: SdkHooks;
  readonly tools: readonly string[];
  readonly mcpServers?: NonNullable<AgentExtension['mcpServers']>;
  resumePrompt?: string;
  readonly #parts: PeopleParts;
  readonly #rules: readonly ApprovalRule[];
  readonly #asking: AskHumanOptions | null;
  #state: State;
  /** What the current query was stopped for. */
  #waiting: Pending | null = null;

  private constructor(parts: PeopleParts, state: State) {
    const { askHuman = false, approve = [] } = parts.definition;
    this.#parts = parts;
    this.#state = state;
    this.#rules = approvalRules(approve);
    this.#asking = askHuman === true ? {} : askHuman === false ? null : askHuman;
    const { description } = this.#asking ?? {};
    this.tools = this.#asking === null ? [] : [ASK_TOOL];
    if (this.#asking !== null) this.mcpServers = () => askServer(description);
    const before = { timeout: HOOK_TIMEOUT, onFailure: 'block' as const, hooks: [this.#beforeTool] };
    const after = { matcher: ASK_TOOL, timeout: HOOK_TIMEOUT, hooks: [this.#afterAsk] };
    this.hooks = mergedHooks({ PreToolUse: [before] }, this.#asking === null ? {} : { PostToolUse: [after] });
  }

  /** Ends the run here where an earlier one has asked and there is still no answer. */
  static async open(parts: PeopleParts): Promise<People> {
    const kept = await parts.files.get(fileOf(parts));
    const state = kept === null ? null : (JSON.parse(Buffer.from(kept).toString('utf8')) as State);
    const people = new People(parts, state ?? { pending: null, grant: null });
    const { pending } = people.#state;
    if (pending !== null)
      people.resumePrompt = people.#goOn(pending, await parts.context.ask(people.#question(pending)));
    return people;
  }

  /** A query was stopped by a hook: where it was one of ours, a person is asked, and the run ends until they answer. */
  async paused(): Promise<string | null> {
    const pending = this.#waiting;
    if (pending === null) return null;
    // Before it is asked: the next run must know what the answer is for.
    await this.#keep({ pending, grant: null });
    const answer = await this.#parts.context.ask(this.#question(pending));
    this.#waiting = null;
    return this.#goOn(pending, answer);
  }

  #goOn(pending: Pending, answer: Answer): string {
    const isApproved = pending.kind === 'approval' && answer.status === 'answered' && answer.choice === APPROVE;
    this.#state = { pending, grant: isApproved ? { tool: pending.tool, input: pending.input } : null };
    return answeredPrompt(pending, answer, isApproved);
  }

  #beforeTool = async ({ tool_name: tool, tool_input: input, tool_use_id: id }: ToolInput): Promise<HookAnswer> => {
    if (this.#waiting !== null) return stopped('Another call waits for a person. Make this one again afterwards.');
    if (!this.#rules.some((isMeant) => isMeant(tool, input))) {
      await this.#goneOn(this.#state.grant);
      return {};
    }
    const { grant } = this.#state;
    const shown = this.#parts.redactor.withoutKnown(input);
    if (grant === null || grant.tool !== tool || !isDeepStrictEqual(grant.input, shown)) {
      this.#waiting = { key: this.#keyOf(id), kind: 'approval', tool, input: shown };
      return stopped('A person must approve this call first.');
    }
    // Kept before the tool runs, so that a crash can never let it run twice by one approval.
    await this.#goneOn(null);
    return { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow' } };
  };

  #afterAsk = async ({ tool_input: input, tool_use_id: id }: ToolInput): Promise<HookAnswer> => {
    if (askInput(input) === null) return {};
    const shown = this.#parts.redactor.withoutKnown(input);
    this.#waiting ??= { key: this.#keyOf(id), kind: 'question', tool: ASK_TOOL, input: shown };
    return { continue: false, stopReason: 'A person was asked.' };
  };

  /** The agent acts on the answer, so it need not be told again. */
  async #goneOn(grant: State['grant']): Promise<void> {
    if (this.#state.pending !== null || this.#state.grant !== grant) await this.#keep({ pending: null, grant });
  }

  async #keep(state: State): Promise<void> {
    this.#state = state;
    await this.#parts.files.put(fileOf(this.#parts), Buffer.from(JSON.stringify(state)));
  }

  #keyOf(toolUseId: string): string {
    return `agent-${this.#parts.sessionId}-${toolUseId}`;
  }

  #question({ key, kind, tool, input }: Pending): AskOptions {
    const { redactor, definition } = this.#parts;
    const { expiresInMs } = this.#asking ?? {};
    const bound = expiresInMs === undefined ? {} : { expiresInMs };
    if (kind === 'question') {
      const { question, choices } = askInput(input)!;
      const text = redactor.text(question, LONGEST_QUESTION);
      return { key, text, ...bound, ...(choices && { choices }), details: { agent: definition.name } };
    }
    const shown = redactor.value(input, LONGEST_INPUT);
    const text = `The agent '${definition.name}' wants to use ${tool}: ${redactor.text(JSON.stringify(input), LONGEST_SUMMARY)}`;
    const details: JsonObject = { agent: definition.name, tool, input: shown };
    return { key, text, ...bound, choices: [APPROVE, DENY], details };
  }
}

const fileOf = ({ sessionId }: Pick<PeopleParts, 'sessionId'>): string => `sessions/${sessionId}/people.json`;

/** The tool does not run, and the query ends in a way that can be resumed. */
const stopped = (why: string): HookAnswer => ({
  continue: false,
  stopReason: why,
  hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: why },
});
