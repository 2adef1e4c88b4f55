import type { HookAnswer, HookCallback, SdkHooks } from '../sdk/sdk-types.ts';

const WHY = 'A hook of the task changes this call, and a person must approve it as it is.';

interface ToolInput {
  tool_name: string;
  tool_input: unknown;
}

/** The hooks of a task, which may change what a tool is called with, except where a person approves the very call. */
export function unchangedCalls(
  hooks: SdkHooks | undefined,
  isApproved: (tool: string, input: unknown) => boolean,
): SdkHooks | undefined {
  if (hooks?.PreToolUse === undefined) return hooks;
  const wrapped =
    (hook: HookCallback): HookCallback =>
    async (input: ToolInput, id, options) => {
      const answer = await hook(input, id, options);
      const changes = answer?.['hookSpecificOutput']?.updatedInput !== undefined;
      return changes && isApproved(input.tool_name, input.tool_input) ? REFUSED : answer;
    };
  const before = hooks.PreToolUse.map((matcher) => ({ ...matcher, hooks: matcher.hooks.map(wrapped) }));
  return { ...hooks, PreToolUse: before };
}

const REFUSED: HookAnswer = {
  hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: WHY },
};
