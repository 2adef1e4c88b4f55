import type { Json, JsonObject } from '@waybill/core';
import type { WebhookValue } from './service.ts';

export const WEBHOOK_KIND = 'webhook';

export const webhookToValue = (webhook: WebhookValue): JsonObject => ({ ...webhook }) as unknown as JsonObject;

/** Values that other programs have written may lack what this one relies on. */
export const webhookFromValue = (value: JsonObject): WebhookValue => ({
  ...(value as unknown as WebhookValue),
  events: Array.isArray(value['events']) ? (value['events'] as string[]) : [],
  secrets: Array.isArray(value['secrets']) ? (value['secrets'] as unknown as WebhookValue['secrets']) : [],
  paused: value['paused'] === true,
});

/** Whether a value has the form that deliveries rely on. Other programs may have written it. */
export function isWebhook({ url, events, secrets, queues = [], job_types = [] }: JsonObject): boolean {
  return typeof url === 'string' && [events, queues, job_types].every(isTexts) && isSecrets(secrets);
}

const isTexts = (value: Json | undefined): boolean =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');

const isSecrets = (value: Json | undefined): boolean =>
  Array.isArray(value) && value.every((one) => typeof (one as JsonObject | null)?.['secret'] === 'string');

/** Field by field, so that nothing secret can be among it. */
export function shownWebhook(value: JsonObject): JsonObject {
  const { url, events, queues, job_types, description, paused } = webhookFromValue(value);
  return {
    ...{ url, events, paused },
    ...(queues && { queues }),
    ...(job_types && { job_types }),
    ...(description !== undefined && { description }),
  };
}

/** An old secret signs beside the new one for this long, unless the caller says otherwise. */
export const KEEP_OLD_MS = 24 * 3_600_000;
/** Each costs a signature per delivery, and a place in its header. */
const MOST_SECRETS = 3;

/** With a new secret in front. The one before it counts until its time is over. */
export function rotated(webhook: WebhookValue, secret: string, { now, keepOldMs }: { now: number; keepOldMs: number }) {
  const until = now + keepOldMs;
  const old = webhook.secrets
    .map((one) => ({ secret: one.secret, until: Math.min(one.until ?? until, until) }))
    .filter((one) => one.until > now && one.secret !== secret);
  return { ...webhook, secrets: [{ secret }, ...old].slice(0, MOST_SECRETS) };
}
