import { WaybillError } from '@waybill/core';
import type { AgentDefinition, CheckedDefinition } from '../agent-definition.ts';
import type { McpServer, SdkHooks, SdkOptions, SessionStore } from '../sdk/sdk-types.ts';
import { type Environment, isOn } from './cli-environment.ts';

export interface QueryOptionsParts {
  checked: CheckedDefinition;
  worker: Environment;
  /** Of the CLI. */
  env: Record<string, string>;
  cwd: string;
  hooks: SdkHooks;
  session: { id: string; isResumed: boolean; store: SessionStore };
  /** What is left of the turns and of the budget: the CLI counts its own query only. */
  turnsLeft: number;
  usdLeft: number | null;
}

/** Options for one query of the SDK. What is left out there is the SDK's choice, so nothing that matters is. */
export function queryOptions(parts: QueryOptionsParts): SdkOptions {
  const { checked, worker, env, cwd, hooks, session, turnsLeft, usdLeft } = parts;
  const { definition, contract } = checked;
  const model = definition.model ?? modelIn(worker);
  const servers = serversOf(definition);
  return {
    ...(model !== undefined && { model }),
    ...(definition.systemPrompt !== undefined && { systemPrompt: definition.systemPrompt }),
    ...toolOptions(definition.tools),
    ...permissionOptions(definition, worker, env),
    ...(servers !== undefined && { mcpServers: servers }),
    // Nothing but what the task says: no settings of the user, of the project or of its folder.
    settingSources: [],
    strictMcpConfig: true,
    hooks,
    cwd,
    env,
    maxTurns: turnsLeft,
    ...(usdLeft !== null && { maxBudgetUsd: usdLeft }),
    ...(contract !== null && { outputFormat: { type: 'json_schema', schema: contract.jsonSchema } }),
    includePartialMessages: true,
    ...(session.isResumed ? { resume: session.id } : { sessionId: session.id }),
    sessionStore: session.store,
    // By default nothing is stored in the middle of a turn.
    sessionStoreFlush: 'eager',
    ...(worker['CLAUDE_CODE_PATH'] && { pathToClaudeCodeExecutable: worker['CLAUDE_CODE_PATH'] }),
  };
}

/** `inherit`: the model that the SDK chooses. */
function modelIn({ CLAUDE_MODEL: model }: Environment): string | undefined {
  return model === undefined || model === '' || model === 'inherit' ? undefined : model;
}

const serversOf = ({ mcpServers }: AgentDefinition): Record<string, McpServer> | undefined =>
  typeof mcpServers === 'function' ? mcpServers() : mcpServers && { ...mcpServers };

/** `tools` says what is offered, by the plain names of built-in tools; `allowedTools` what runs without being asked for. */
function toolOptions(tools: readonly string[]): Pick<SdkOptions, 'tools' | 'allowedTools'> {
  const builtIn = tools.filter((tool) => !tool.startsWith('mcp__')).map((tool) => tool.replace(/\(.*$/s, ''));
  return { tools: [...new Set(builtIn)], allowedTools: [...tools] };
}

function permissionOptions(
  { name, permissionMode }: AgentDefinition,
  worker: Environment,
  env: Environment,
): Pick<SdkOptions, 'permissionMode' | 'allowDangerouslySkipPermissions' | 'permissionPrompts'> {
  const mode = permissionMode ?? (isOn(worker['CLAUDE_SKIP_PERMISSIONS']) ? 'bypassPermissions' : 'acceptEdits');
  // The run has no user who could be asked.
  if (mode !== 'bypassPermissions') return { permissionMode: mode, permissionPrompts: 'none' };
  if (process.getuid?.() === 0 && !isOn(env['IS_SANDBOX'])) {
    const message = `Agent task '${name}': Claude Code refuses permission mode 'bypassPermissions' as root.`;
    throw new WaybillError('unsupported', message, {
      hint: 'Run the worker as another user, or set IS_SANDBOX=1 where it runs in a container of its own.',
    });
  }
  return { permissionMode: mode, allowDangerouslySkipPermissions: true };
}
