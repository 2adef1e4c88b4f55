import type { SinkState } from '@waybill/core';

declare module '@waybill/core' {
  interface RecordEvents {
    'webhook.paused': true;
    'webhook.resumed': true;
    'webhook.missed': true;
    'webhook.test': true;
  }
}

/** What the service tells of webhooks, besides what their routes tell. `webhook.test` is sent and not in the log. */
export const WEBHOOK_STATE_EVENTS = ['webhook.paused', 'webhook.resumed', 'webhook.missed'] as const;

/** The value of a record of kind `webhook`. */
export interface WebhookValue {
  url: string;
  /** Types of events; `job.*` stands for all of a kind, `*` for all. */
  events: string[];
  queues?: string[];
  job_types?: string[];
  description?: string;
  /** Each signs, until its moment in milliseconds since the epoch where it has one. The newest comes first. */
  secrets: { secret: string; until?: number }[];
  /** Asked for by people; the state says where the server has paused it by itself. */
  paused: boolean;
}

export interface TestAnswer {
  ok: boolean;
  /** Of the receiver's answer. */
  status?: number;
  /** Why it was not ok; one line. */
  error?: string;
  ms: number;
}

/** Which events are sent again. */
export type RedeliverFrom =
  /** Everything from this moment on, in milliseconds since the epoch. */
  | { since: number }
  /** Everything behind this cursor of the log. */
  | { after: string }
  /** This one event, now; by its CloudEvents id. */
  | { eventId: string };

/** Delivers to the webhooks of all tenants. Refuses unknown ones with `not_found`. */
export interface WebhookService {
  start(): void;
  /** Lets deliveries under way end. */
  stop(): Promise<void>;
  /** Refuses an address that no webhook may have, with `invalid_request` for this field. */
  checkUrl(url: string, field?: string): void;
  /** How it stands with a webhook; null: nothing has been looked at yet. */
  state(tenant: string, id: string): Promise<SinkState | null>;
  /** Sends a `webhook.test` event, once. */
  test(tenant: string, id: string): Promise<TestAnswer>;
  redeliver(tenant: string, id: string, from: RedeliverFrom): Promise<void>;
  pause(tenant: string, id: string): Promise<void>;
  /** Whoever paused it. */
  resume(tenant: string, id: string): Promise<void>;
}
