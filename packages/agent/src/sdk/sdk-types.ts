import type { Readable, Writable } from 'node:stream';
import type { SdkMessage } from './sdk-messages.ts';

/**
 * The part of `@anthropic-ai/claude-agent-sdk` that we use, written out because the package is optional and large. The
 * tests in packages/agent/real compare it with the real one.
 */
export interface AgentSdk {
  query(parameters: { prompt: string; options?: SdkOptions }): SdkQuery;
}

export interface SdkQuery extends AsyncIterable<SdkMessage> {
  interrupt(): Promise<unknown>;
}

export const PERMISSION_MODES = ['default', 'acceptEdits', 'plan', 'dontAsk', 'auto', 'bypassPermissions'] as const;
export type PermissionMode = (typeof PERMISSION_MODES)[number];

export interface SdkOptions {
  allowDangerouslySkipPermissions?: boolean;
  allowedTools?: string[];
  cwd?: string;
  env?: Record<string, string | undefined>;
  hooks?: SdkHooks;
  includePartialMessages?: boolean;
  maxBudgetUsd?: number;
  maxTurns?: number;
  mcpServers?: Record<string, McpServer>;
  model?: string;
  outputFormat?: { type: 'json_schema'; schema: Record<string, unknown> };
  pathToClaudeCodeExecutable?: string;
  permissionMode?: PermissionMode;
  permissionPrompts?: 'host' | 'none';
  resume?: string;
  sessionId?: string;
  sessionStore?: SessionStore;
  sessionStoreFlush?: 'batched' | 'eager';
  settingSources?: [];
  spawnClaudeCodeProcess?: (options: SpawnOptions) => SpawnedProcess;
  strictMcpConfig?: boolean;
  systemPrompt?: string | { type: 'preset'; preset: 'claude_code'; append?: string };
  tools?: string[];
}

/** As the SDK takes it: stdio, sse, http, or one made by `createSdkMcpServer`. */
// biome-ignore lint/suspicious/noExplicitAny: a server may be any of the kinds that the SDK knows
export type McpServer = any;

/** Live in the process of the SDK. One per event of the agent, see the documentation of the SDK. */
export type SdkHooks = Partial<Record<HookEvent, HookMatcher[]>>;
export type HookEvent =
  | 'PreToolUse'
  | 'PostToolUse'
  | 'PostToolUseFailure'
  | 'PostToolBatch'
  | 'UserPromptSubmit'
  | 'Stop'
  | 'SubagentStart'
  | 'SubagentStop'
  | 'PreCompact'
  | 'PostCompact'
  | 'Notification'
  | 'PermissionRequest'
  | 'PermissionDenied'
  | 'TaskCreated'
  | 'TaskCompleted';

export interface HookMatcher {
  matcher?: string;
  /** In seconds. */
  timeout?: number;
  /** What follows when a hook throws or hangs. Guards need 'block'. */
  onFailure?: 'continue' | 'block';
  hooks: HookCallback[];
}

export type HookCallback = (
  // biome-ignore lint/suspicious/noExplicitAny: each event has fields of its own
  input: any,
  toolUseId: string | undefined,
  options: { signal: AbortSignal },
) => Promise<HookAnswer>;

export interface HookAnswer {
  continue?: boolean;
  stopReason?: string;
  // biome-ignore lint/suspicious/noExplicitAny: each event has fields of its own
  [field: string]: any;
}

export interface SpawnOptions {
  command: string;
  args: string[];
  cwd?: string;
  env: Record<string, string | undefined>;
  signal: AbortSignal;
}

export interface SpawnedProcess {
  stdin: Writable;
  stdout: Readable;
  readonly killed: boolean;
  readonly exitCode: number | null;
  readonly signalCode?: NodeJS.Signals | null;
  kill(signal: NodeJS.Signals): boolean;
  on(event: 'exit', listener: (code: number | null, signal: NodeJS.Signals | null) => void): void;
  on(event: 'error', listener: (error: Error) => void): void;
  once(event: 'exit', listener: (code: number | null, signal: NodeJS.Signals | null) => void): void;
  once(event: 'error', listener: (error: Error) => void): void;
  off(event: 'exit', listener: (code: number | null, signal: NodeJS.Signals | null) => void): void;
  off(event: 'error', listener: (error: Error) => void): void;
}

export interface SessionKey {
  projectKey: string;
  sessionId: string;
  subpath?: string;
}

/** One line of a transcript. */
export interface SessionEntry {
  type: string;
  uuid?: string;
  [field: string]: unknown;
}

export interface SessionStore {
  append(key: SessionKey, entries: SessionEntry[]): Promise<void>;
  load(key: SessionKey): Promise<SessionEntry[] | null>;
  listSubkeys?(key: { projectKey: string; sessionId: string }): Promise<string[]>;
}
