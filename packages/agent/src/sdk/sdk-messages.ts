/** What a query says, as far as we read it. Kinds that we do not know are passed over. */
export type SdkMessage = SdkAssistant | SdkUser | SdkStreamEvent | SdkSystem | SdkResult | { type: '?' };

/** One block of an answer; the blocks of an answer share `message.id`. */
export interface SdkAssistant {
  type: 'assistant';
  message: { id: string; model: string; content: SdkBlock[]; usage?: SdkUsage; stop_reason?: string | null };
  parent_tool_use_id: string | null;
  error?: string;
}

export interface SdkBlock {
  type: string;
  text?: string;
  id?: string;
  name?: string;
  input?: unknown;
}

export interface SdkUser {
  type: 'user';
  message: { content: string | { type: string; tool_use_id?: string; is_error?: boolean; content?: unknown }[] };
  parent_tool_use_id: string | null;
}

/** An event of the Messages API as it came; of the main conversation only. */
export interface SdkStreamEvent {
  type: 'stream_event';
  event: SdkApiEvent;
  parent_tool_use_id: string | null;
}

export interface SdkApiEvent {
  type: string;
  message?: { id: string; model: string; usage?: SdkUsage };
  delta?: { stop_reason?: string | null; text?: string; partial_json?: string; thinking?: string };
  content_block?: { type: string; name?: string };
  usage?: SdkUsage;
}

export interface SdkUsage {
  input_tokens?: number | null;
  output_tokens?: number | null;
  cache_read_input_tokens?: number | null;
  cache_creation_input_tokens?: number | null;
  cache_creation?: { ephemeral_5m_input_tokens?: number; ephemeral_1h_input_tokens?: number } | null;
}

export interface SdkSystem {
  type: 'system';
  subtype: string;
  session_id?: string;
  /** Of 'api_retry'. */
  attempt?: number;
  retry_delay_ms?: number;
  error_status?: number | null;
  error?: unknown;
  [field: string]: unknown;
}

export interface SdkModelUsage {
  inputTokens: number;
  outputTokens: number;
  cacheReadInputTokens: number;
  cacheCreationInputTokens: number;
  cacheCreationEphemeral1hInputTokens?: number;
}

export interface SdkResult {
  type: 'result';
  subtype: string;
  is_error: boolean;
  num_turns: number;
  duration_ms: number;
  result?: string;
  structured_output?: unknown;
  errors?: string[];
  api_error_status?: number | null;
  terminal_reason?: string;
  modelUsage: Record<string, SdkModelUsage>;
  total_cost_usd: number;
}
