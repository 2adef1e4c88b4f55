import type { WireWebhook, WireWebhookRequest, WireWebhookTest } from '../webhook-wire.ts';
import { path } from './address.ts';
import type { Calls, Named } from './calls.ts';

const ALL = '/waybill/v1/webhooks';

/** The webhooks of a tenant, as a server keeps them and in its words. */
export interface RemoteWebhooks {
  /** The secret is in this answer and in no other. */
  create(request: WireWebhookRequest, context?: Named): Promise<WebhookAndSecret>;
  /** Creates one under this id, or replaces it; the secret is there only if it was created. Can be repeated. */
  put(id: string, request: WireWebhookRequest, context?: Named): Promise<Partial<WebhookAndSecret>>;
  list(query?: Named & { limit?: number; cursor?: string }): Promise<{ webhooks: WireWebhook[]; cursor?: string }>;
  get(id: string, context?: Named): Promise<WireWebhook>;
  remove(id: string, context?: Named): Promise<WireWebhook>;
  pause(id: string, context?: Named): Promise<WireWebhook>;
  resume(id: string, context?: Named): Promise<WireWebhook>;
  /** The old secret signs beside the new one for a while. @defaultValue keepOldMs a day */
  rotateSecret(id: string, context?: Named & { keepOldMs?: number }): Promise<WebhookAndSecret>;
  test(id: string, context?: Named): Promise<WireWebhookTest>;
  redeliver(id: string, from: WebhookRedelivery, context?: Named): Promise<WireWebhook>;
}

export interface WebhookAndSecret {
  webhook: WireWebhook;
  secret: string;
}

/** From a moment on, behind a cursor of the log, or one event by its id. */
export type WebhookRedelivery = { since: string } | { after: string } | { event_id: string };

export function webhooks(calls: Calls): RemoteWebhooks {
  const one = async (method: string, where: string, context: Named | undefined, body?: object) => {
    const options = { tenant: calls.tenantOf(context), ...(body && { body }) };
    return (await calls.call<{ webhook: WireWebhook }>(method, where, options)).webhook;
  };
  return {
    create: async (body, context) => calls.call('POST', ALL, { tenant: calls.tenantOf(context), body }),
    put: async (id, body, context) => {
      const options = { tenant: calls.tenantOf(context), body };
      return calls.call('PUT', path`/waybill/v1/webhooks/${id}`, options);
    },
    list: async ({ limit, cursor, ...context } = {}) => {
      const options = { tenant: calls.tenantOf(context), query: { limit, cursor } };
      const answer = await calls.call<{ webhooks: WireWebhook[]; pagination: { cursor?: string } }>(
        'GET',
        ALL,
        options,
      );
      const { cursor: next } = answer.pagination;
      return { webhooks: answer.webhooks, ...(next !== undefined && { cursor: next }) };
    },
    get: async (id, context) => one('GET', path`/waybill/v1/webhooks/${id}`, context),
    remove: async (id, context) => one('DELETE', path`/waybill/v1/webhooks/${id}`, context),
    pause: async (id, context) => one('POST', path`/waybill/v1/webhooks/${id}/pause`, context),
    resume: async (id, context) => one('POST', path`/waybill/v1/webhooks/${id}/resume`, context),
    rotateSecret: async (id, { keepOldMs, ...context } = {}) => {
      const body = keepOldMs === undefined ? {} : { keep_old_ms: keepOldMs };
      const options = { tenant: calls.tenantOf(context), body };
      return calls.call('POST', path`/waybill/v1/webhooks/${id}/rotate-secret`, options);
    },
    test: async (id, context) => {
      const options = { tenant: calls.tenantOf(context) };
      const where = path`/waybill/v1/webhooks/${id}/test`;
      return (await calls.call<{ test: WireWebhookTest }>('POST', where, options)).test;
    },
    redeliver: async (id, from, context) => one('POST', path`/waybill/v1/webhooks/${id}/redeliver`, context, from),
  };
}
