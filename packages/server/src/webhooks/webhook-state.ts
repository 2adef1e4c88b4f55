import { toRfc3339 } from '@waybill/client';
import {
  EVENT_TYPES,
  type Events,
  type EventType,
  type JsonObject,
  kindOf,
  type LoggedEvent,
  type SinkState,
  type StoredRecord,
  type Waybill,
  WaybillError,
} from '@waybill/core';
import type { Surface } from '../surface.ts';
import type { WebhookValue } from './service.ts';
import { wants } from './wanted-events.ts';
import { webhookFromValue } from './webhook.ts';

/** What is known of the delivery. Little, before a server has looked at the webhook. */
export async function shownState(
  { events }: Waybill,
  { tenant, id, value }: StoredRecord,
  { surface, isListed }: { surface: Surface; isListed: boolean },
): Promise<JsonObject> {
  const webhook = webhookFromValue(value);
  const state = (await surface.webhooks?.state(tenant, id)) ?? null;
  const isPaused = webhook.paused || state?.status === 'paused';
  const isFailing = state !== null && state.failingSince !== null;
  const lag = isListed || state === null ? undefined : await lagOf(events, webhook, state, surface.clock.now());
  return {
    state: {
      status: isPaused ? 'paused' : isFailing ? 'failing' : 'active',
      delivered: state?.delivered ?? 0,
      failures: state?.failures ?? 0,
      ...present('paused_reason', webhook.paused ? 'Somebody has paused it.' : isPaused ? state?.pausedReason : null),
      ...moment('failing_since', state?.failingSince),
      ...present('last_error', state?.lastError),
      ...moment('last_error_at', state?.lastErrorAt),
      ...moment('next_try_at', isPaused ? null : state?.nextTryAt),
      ...(state?.missed && { missed: true }),
      ...(lag !== undefined && { lag_ms: lag }),
    },
  };
}

/** Slices of the log that are looked through for an event that has not been delivered. */
const MOST_SLICES = 20;
const SLICE = 100;

/** The age of the oldest event that is yet to be delivered; undefined where that is not known. */
async function lagOf(
  log: Events,
  webhook: WebhookValue,
  { cursor }: SinkState,
  now: number,
): Promise<number | undefined> {
  const { events, queues } = webhook;
  const types = typesOf(events);
  const filter = { ...(types && { types }), ...(queues && { queues }) };
  try {
    let after = cursor ?? undefined;
    for (let slice = 0; slice < MOST_SLICES; slice += 1) {
      const page = await log.read({ filter, limit: SLICE, ...(after !== undefined && { after }) });
      const next = page.events.find((event) => isWanted(event, webhook));
      if (next) return Math.max(0, now - next.at);
      if (page.atEnd) return 0;
      after = page.cursor;
    }
  } catch (error) {
    // A cursor that the log does not know any more: the one who delivers tells of that.
    if (!(error instanceof WaybillError) || error.code !== 'invalid_request') throw error;
  }
  return undefined;
}

/** The log has no index of the types of jobs, and no list of all types of events. */
const isWanted = ({ type, jobType }: LoggedEvent, { events, job_types: jobTypes }: WebhookValue): boolean =>
  wants(events, type) && (jobTypes === undefined || (jobType !== undefined && jobTypes.includes(jobType)));

/** What the log can be asked for; undefined: types that it has no list of are among it. */
function typesOf(events: readonly string[]): EventType[] | undefined {
  const known = EVENT_TYPES.filter((type) => events.includes(type) || events.includes(`${kindOf(type)}.*`));
  const isWhole = events.every((name) => known.some((type) => type === name || `${kindOf(type)}.*` === name));
  return isWhole ? known : undefined;
}

const present = (name: string, value: string | null | undefined): JsonObject =>
  value === null || value === undefined || value === '' ? {} : { [name]: value };

const moment = (name: string, value: number | null | undefined): JsonObject =>
  value === null || value === undefined ? {} : { [name]: toRfc3339(value) };
