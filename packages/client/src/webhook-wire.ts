/** A webhook as the API shows it: never with its secret. */
export interface WireWebhook {
  id: string;
  url: string;
  events: string[];
  queues?: string[];
  job_types?: string[];
  description?: string;
  /** Whether people have paused it. */
  paused: boolean;
  state: WireWebhookState;
  version: number;
  created_at: string;
  updated_at: string;
}

/** How its delivery stands. */
export interface WireWebhookState {
  status: 'active' | 'failing' | 'paused';
  delivered: number;
  /** Failed tries since `failing_since`. */
  failures: number;
  paused_reason?: string;
  failing_since?: string;
  last_error?: string;
  last_error_at?: string;
  next_try_at?: string;
  /** Events were pruned before they were delivered. */
  missed?: true;
  /** Age of the oldest event that is yet to be delivered. Not in lists. */
  lag_ms?: number;
}

/** What a caller sends to create or replace one. */
export interface WireWebhookRequest {
  url: string;
  /** @defaultValue job.* */
  events?: string[];
  queues?: string[];
  job_types?: string[];
  description?: string;
  /** `whsec_` and the base64 of 24 to 64 random bytes. @defaultValue the server makes one */
  secret?: string;
  paused?: boolean;
}

/** What came of a test. */
export interface WireWebhookTest {
  ok: boolean;
  status?: number;
  error?: string;
  ms: number;
}
