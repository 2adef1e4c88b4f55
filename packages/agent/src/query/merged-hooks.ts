import type { HookAnswer, HookEvent, SdkHooks } from '../sdk/sdk-types.ts';

/** All hooks of all sets. */
export function mergedHooks(...sets: readonly (SdkHooks | undefined)[]): SdkHooks {
  const merged: SdkHooks = {};
  for (const set of sets) {
    for (const [event, matchers] of Object.entries(set ?? {}) as [HookEvent, SdkHooks[HookEvent]][])
      merged[event] = [...(merged[event] ?? []), ...(matchers ?? [])];
  }
  return merged;
}

/** In seconds. It waits for what was used and what is called to be kept. */
const GUARD_TIMEOUT = 60;

/**
 * Asks before each tool whether the agent may go on: `reason` answers null, or why not. The tool does not run, and the agent
 * ends in a way that can be resumed. A guard that fails lets no tool run.
 */
export function guard(reason: (tool: string, toolUseId: string) => Promise<string | null>): SdkHooks {
  const ask = async ({ tool_name, tool_use_id }: { tool_name: string; tool_use_id: string }): Promise<HookAnswer> => {
    const why = await reason(tool_name, tool_use_id);
    if (why === null) return {};
    const decision = { permissionDecision: 'deny', permissionDecisionReason: why };
    return { continue: false, stopReason: why, hookSpecificOutput: { hookEventName: 'PreToolUse', ...decision } };
  };
  return { PreToolUse: [{ timeout: GUARD_TIMEOUT, onFailure: 'block', hooks: [ask] }] };
}
