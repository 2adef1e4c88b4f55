import { didYouMean } from '@waybill/core';
import { AgentError } from '../agent-error.ts';
import type { SdkMessage } from '../sdk/sdk-messages.ts';

/** Tools that Claude Code offers under another name. */
const ALIASES: Readonly<Record<string, string>> = { Agent: 'Task', KillShell: 'TaskStop' };

/** What a misspelled name may have meant: the CLI tells only of those that were asked for. */
const BUILT_IN = [
  ...['Agent', 'Bash', 'Edit', 'Glob', 'Grep', 'NotebookEdit', 'Read', 'Skill', 'TodoWrite', 'WebFetch', 'WebSearch'],
  'Write',
];

interface Server {
  name: string;
  status: string;
}

/** Why an agent cannot have a tool that its task names; null where it has all of them, or where the message does not say. */
export function missingTool(wanted: readonly string[], message: SdkMessage): AgentError | null {
  if (message.type !== 'system' || !('subtype' in message) || message.subtype !== 'init') return null;
  const { tools, mcp_servers: servers = [] } = message as { tools?: string[]; mcp_servers?: Server[] };
  if (tools === undefined) return null;
  const names = wanted.map((tool) => tool.replace(/\(.*$/s, ''));
  return names.map((name) => missing(name, tools, servers)).find((error) => error !== null) ?? null;
}

function missing(name: string, offered: readonly string[], servers: readonly Server[]): AgentError | null {
  if (offered.includes(ALIASES[name] ?? name) || offered.some((one) => one.startsWith(`${name}__`))) return null;
  const server = /^mcp__(.+?)(?:__|$)/.exec(name)?.[1];
  if (server === undefined) return toolMissing(name, `Claude Code does not offer it.${didYouMean(name, BUILT_IN)}`);
  const status = servers.find((one) => one.name === server)?.status;
  if (status === 'pending') return null;
  if (status === undefined) return toolMissing(name, `The task has no MCP server '${server}'.`);
  // It may answer the next time.
  if (status !== 'connected')
    return toolMissing(name, `Its MCP server '${server}' is not connected (${status}).`, true);
  return toolMissing(name, `Its MCP server '${server}' does not offer it.${didYouMean(name, offered)}`);
}

const toolMissing = (tool: string, why: string, retryable = false): AgentError =>
  new AgentError('tool_missing', `The agent cannot have the tool '${tool}', which 'tools' names. ${why}`, {
    retryable,
    details: { tool },
  });
