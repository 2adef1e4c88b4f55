import { checkQueue, didYouMean, EVENT_TYPES, type Fields, invalidField, type JsonObject, kindOf } from '@waybill/core';
import type { Surface } from '../surface.ts';
import { checkWebhookSecret, newWebhookSecret } from '../webhooks/secret.ts';
import { WEBHOOK_STATE_EVENTS, type WebhookValue } from '../webhooks/service.ts';
import { checkTarget, MAX_URL } from '../webhooks/target.ts';
import { shownWebhook, WEBHOOK_KIND, webhookFromValue, webhookToValue } from '../webhooks/webhook.ts';
import { shownState } from '../webhooks/webhook-state.ts';
import type { Reading, RecordKind } from './record-kind.ts';

declare module '@waybill/core' {
  interface RecordEvents {
    'webhook.created': true;
    'webhook.changed': true;
    'webhook.rotated': true;
    'webhook.removed': true;
  }
}

/** Of one tenant: each reads the log by itself. */
const MOST_WEBHOOKS = 100;
const MOST_LISTED = 100;
const DEFAULT_EVENTS = ['job.*'];
const OWN_EVENTS = [
  ...(['webhook.created', 'webhook.changed', 'webhook.rotated', 'webhook.removed'] as const),
  ...WEBHOOK_STATE_EVENTS,
];

/** An address that is told what happens. `others`: the events of all other kinds of records, which can be told too. */
export function webhookKind(others: readonly string[]): RecordKind {
  const types = [...EVENT_TYPES, ...others, ...OWN_EVENTS];
  const known = [...types, ...new Set(types.map((type) => `${kindOf(type)}.*`)), '*'];
  return {
    kind: WEBHOOK_KIND,
    plural: 'webhooks',
    most: MOST_WEBHOOKS,
    events: OWN_EVENTS,
    fields: ['url', 'events', 'queues', 'job_types', 'description', 'secret', 'paused'],
    example: { url: 'https://example.com/hooks', events: ['job.completed', 'job.failed'], queues: ['mail'] },
    read: (body, reading) => webhookToValue(readWebhook(body, reading, known)),
    shown: shownWebhook,
    shownOnce: (before, after) => (before === null ? { secret: webhookFromValue(after).secrets[0]!.secret } : {}),
    beside: shownState,
    fact: (before, after) => ({
      type: `webhook.${changeOf(before, after)}`,
      data: factsOf(after ?? before!),
    }),
  };
}

function readWebhook(body: Fields, { before, surface }: Reading, known: readonly string[]): WebhookValue {
  const queues = body.strings('queues', { max: MOST_LISTED });
  const jobTypes = body.strings('job_types', { max: MOST_LISTED });
  const description = body.string('description');
  return {
    url: targetIn(body.requiredString('url', { max: MAX_URL }), surface),
    events: eventsIn(body, known),
    ...(queues && { queues: filled('queues', queues).map((name, index) => checkQueue(name, `queues[${index}]`)) }),
    ...(jobTypes && { job_types: jobTypesIn(filled('job_types', jobTypes)) }),
    ...(description !== undefined && { description }),
    secrets: secretsIn(body.string('secret'), before),
    paused: pausedIn(body.boolean('paused'), before),
  };
}

/** Where nothing delivers, the strict rule holds. */
function targetIn(text: string, { webhooks }: Surface): string {
  if (webhooks) webhooks.checkUrl(text, 'url');
  else checkTarget(text, { allowPrivate: false });
  return new URL(text).href;
}

/** A list that the caller made empty by mistake would match nothing, or everything. */
function filled(field: string, items: string[]): string[] {
  if (items.length > 0) return [...new Set(items)];
  throw invalidField(field, 'must not be empty. Leave it out to get the events of all.');
}

/** As a job may have it: whatever is none would never match. */
const JOB_TYPE = /^[a-z][a-z0-9_-]*(\.[a-z][a-z0-9_-]*)*$/;
const MAX_JOB_TYPE = 255;

function jobTypesIn(types: string[]): string[] {
  const bad = types.findIndex((type) => type.length > MAX_JOB_TYPE || !JOB_TYPE.test(type));
  if (bad < 0) return types;
  throw invalidField(`job_types[${bad}]`, 'must be lower-case words joined by dots, such as email.send.');
}

function eventsIn(body: Fields, known: readonly string[]): string[] {
  const events = body.strings('events', { max: MOST_LISTED });
  if (events === undefined) return DEFAULT_EVENTS;
  events.forEach((name, index) => {
    if (known.includes(name)) return;
    const rule = `does not name a type of event, nor all of a kind, such as job.*.${didYouMean(name, known)}`;
    throw invalidField(`events[${index}]`, rule);
  });
  return filled('events', events);
}

/** The secret of a webhook that exists is changed by rotating it, so that the receiver can keep up. */
function secretsIn(given: string | undefined, before: JsonObject | null): WebhookValue['secrets'] {
  const secret = given === undefined ? undefined : checkWebhookSecret(given);
  const kept = before === null ? [] : webhookFromValue(before).secrets;
  if (kept.length === 0) return [{ secret: secret ?? newWebhookSecret() }];
  if (secret === undefined || secret === kept[0]!.secret) return kept;
  throw invalidField('secret', 'cannot be changed by this call. Rotate it: POST ../rotate-secret.');
}

/** A webhook that exists is paused and resumed by calls of their own, because what delivers must know of it. */
function pausedIn(given: boolean | undefined, before: JsonObject | null): boolean {
  if (before === null) return given ?? false;
  const { paused } = webhookFromValue(before);
  if (given === undefined || given === paused) return paused;
  throw invalidField('paused', `cannot be changed by this call. Use POST ../${given ? 'pause' : 'resume'}.`);
}

function changeOf(before: JsonObject | null, after: JsonObject | null) {
  if (before === null) return 'created';
  if (after === null) return 'removed';
  const [old, made] = [webhookFromValue(before), webhookFromValue(after)];
  if (old.paused !== made.paused) return made.paused ? 'paused' : 'resumed';
  return old.secrets[0]?.secret === made.secrets[0]?.secret ? 'changed' : 'rotated';
}

/** Not the address: the log is read by more people than the webhooks are. */
function factsOf(value: JsonObject): JsonObject {
  const { url, events, paused } = webhookFromValue(value);
  return { target: URL.canParse(url) ? new URL(url).origin : '', events, paused };
}
