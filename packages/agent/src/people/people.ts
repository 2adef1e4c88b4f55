import type { Json } from '@waybill/core';
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
import { canBeShown, digestOf, LARGEST_CALL, shownCall } from './shown-call.ts';
import { unchangedCalls } from './unchanged-calls.ts';

/** What the runs of a session must know of it. */
interface State {
  /** What was asked, until the agent has gone on with the answer. */
  pending: Pending | null;
  /** Digest of the one call that a person has approved and that was not made yet. */
  grant: string | null;
  /** How many questions the session has asked, this one among them. */
  asked: number;
}

export const APPROVE = 'approve';
const DENY = 'deny';
const LONGEST_QUESTION = 8_000;
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
    const people = new People(parts, state ?? { pending: null, grant: null, asked: 0 });
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
    await this.#keep({ pending, grant: null, asked: this.#state.asked + 1 });
    const answer = await this.#parts.context.ask(this.#question(pending));
    this.#waiting = null;
    return this.#goOn(pending, answer);
  }

  #goOn(pending: Pending, answer: Answer): string {
    const isApproved = pending.kind === 'approval' && answer.status === 'answered' && answer.choice === APPROVE;
    this.#state = { ...this.#state, pending, grant: isApproved ? pending.digest : null };
    return answeredPrompt(pending, answer, isApproved);
  }

  #beforeTool = async ({ tool_name: tool, tool_input: input }: ToolInput): Promise<HookAnswer> => {
    if (this.#waiting !== null) return stopped('Another call waits for a person. Make this one again afterwards.');
    if (!this.#needsApproval(tool, input)) {
      await this.#goneOn(this.#state.grant);
      return {};
    }
    const digest = digestOf(tool, input);
    if (this.#state.grant !== digest) {
      if (!canBeShown(input)) return denied(TOO_LARGE);
      this.#waiting = this.#pending('approval', tool, input, digest);
      return stopped('A person must approve this call first.');
    }
    // Kept before the tool runs, so that a crash can never let it run twice by one approval.
    await this.#goneOn(null);
    return { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow' } };
  };

  readonly #needsApproval = (tool: string, input: unknown): boolean =>
    this.#rules.some((isMeant) => isMeant(tool, input));

  /** What a person approves, no hook of the task may change. */
  ofTask = (hooks: SdkHooks | undefined): SdkHooks | undefined => unchangedCalls(hooks, this.#needsApproval);

  #afterAsk = async ({ tool_input: input }: ToolInput): Promise<HookAnswer> => {
    if (askInput(input) === null) return {};
    this.#waiting ??= this.#pending('question', ASK_TOOL, input, digestOf(ASK_TOOL, input));
    return { continue: false, stopReason: 'A person was asked.' };
  };

  /** The agent acts on the answer, so it need not be told again. */
  async #goneOn(grant: State['grant']): Promise<void> {
    if (this.#state.pending !== null || this.#state.grant !== grant)
      await this.#keep({ ...this.#state, pending: null, grant });
  }

  async #keep(state: State): Promise<void> {
    this.#state = state;
    await this.#parts.files.put(fileOf(this.#parts), Buffer.from(JSON.stringify(state)));
  }

  #pending(kind: Pending['kind'], tool: string, input: unknown, digest: string): Pending {
    const { redactor, sessionId } = this.#parts;
    // Only known secrets are masked: what merely looks like one may be the part of a call that a person must see.
    const shown = redactor.withoutKnown(input) as Json;
    // Not by the id of the call: some models give several calls the same one, and an answer would be that to another call.
    const key = `agent-${sessionId}-${this.#state.asked + 1}-${digest}`;
    return { key, kind, tool, input: shown, digest };
  }

  #question({ key, kind, tool, input, digest }: Pending): AskOptions {
    const { redactor, definition } = this.#parts;
    const { expiresInMs } = this.#asking ?? {};
    const bound = expiresInMs === undefined ? {} : { expiresInMs };
    if (kind === 'question') {
      const { question, choices } = askInput(input)!;
      const text = redactor.text(question, LONGEST_QUESTION);
      return { key, text, ...bound, ...(choices && { choices }), details: { agent: definition.name } };
    }
    return { key, ...shownCall(definition.name, tool, input, digest), ...bound, choices: [APPROVE, DENY] };
  }
}

const fileOf = ({ sessionId }: Pick<PeopleParts, 'sessionId'>): string => `sessions/${sessionId}/people.json`;

const TOO_LARGE = `A person must approve this call, and can be shown ${LARGEST_CALL} bytes of it. Make it smaller.`;

/** The tool does not run, and the agent goes on. */
const denied = (why: string): HookAnswer => ({
  hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: why },
});

/** The tool does not run, and the query ends in a way that can be resumed. */
const stopped = (why: string): HookAnswer => ({ continue: false, stopReason: why, ...denied(why) });
