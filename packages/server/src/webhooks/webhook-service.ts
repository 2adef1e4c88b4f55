import {
  type Clock,
  checkNames,
  type DeliveryObserver,
  type Logger,
  PAUSED_ON_REQUEST,
  type RecordFact,
  type RunningSinks,
  type Sink,
  SinkRefusal,
  type StoredRecord,
  stderrLogger,
  systemClock,
  type Waybill,
  WaybillError,
} from '@waybill/core';
import { cursorBefore, eventById, leavesOut } from './event-search.ts';
import { hostResolver, type Resolve } from './host-resolver.ts';
import type { RedeliverFrom, TestAnswer, WebhookService, WebhookValue } from './service.ts';
import { checkTarget, webhookRanges } from './target.ts';
import { isWebhook } from './webhook.ts';
import { checkAnswer, send, webhookSink } from './webhook-sink.ts';

const KIND = 'webhook';
const PAGE = 1_000;
const MOST_TRIES = 5;
const never = new AbortController().signal;

export interface WebhookServiceOptions {
  /** The engine itself: a client has neither records nor sinks. */
  waybill: Waybill;
  /** Of this software. */
  version: string;
  /** @defaultValue stderrLogger */
  logger?: Logger;
  /** The one that the engine goes by. @defaultValue the clock of this machine */
  clock?: Clock;
  /** Allow receivers in private ranges, and plain http. @defaultValue false */
  allowPrivate?: boolean;
  /** Allow receivers at these addresses and in these ranges, such as 10.1.0.0/16, over plain http too. @defaultValue [] */
  targets?: readonly string[];
  /** For one delivery as a whole. @defaultValue 10_000 */
  timeoutMs?: number;
  /** A webhook that has failed for this long is paused. @defaultValue 24 hours */
  pauseAfterMs?: number;
  /** Stands around every delivery, for traces and metrics. @defaultValue none */
  observe?: DeliveryObserver;
  /** @defaultValue the hosts file and the name servers of this machine, without its thread pool */
  resolve?: Resolve;
}

const DEFAULTS = {
  logger: stderrLogger,
  clock: systemClock,
  allowPrivate: false,
  timeoutMs: 10_000,
} satisfies Partial<WebhookServiceOptions>;

const OPTIONS: Record<keyof WebhookServiceOptions, true> = {
  ...{ waybill: true, version: true, logger: true, clock: true, allowPrivate: true, targets: true },
  ...{ timeoutMs: true, pauseAfterMs: true, observe: true, resolve: true },
};

/** Sends the log to the webhooks of all tenants, and does what people ask of one of them. */
export function webhookService(given: WebhookServiceOptions): WebhookService {
  checkNames('webhookService()', given, Object.keys(OPTIONS));
  const { waybill, logger, pauseAfterMs, observe, targets = [], ...others } = { ...DEFAULTS, ...given };
  const { clock, resolve = hostResolver({ clock }) } = others;
  const options = { ...others, resolve, ranges: webhookRanges(targets) };
  const { records, sinks, events } = waybill;
  if (!records || !sinks) throw new WaybillError('unsupported', 'Only a server with a store delivers to webhooks.');
  let running: RunningSinks | undefined;

  const ofTenant = async (tenant: string): Promise<Sink[]> => {
    const found: StoredRecord[] = [];
    let cursor: string | undefined;
    do {
      const page = await records.list({ tenant, kind: KIND, limit: PAGE, ...(cursor !== undefined && { cursor }) });
      for (const { id } of page.unreadable)
        logger.warn({ webhook: id, tenant }, 'A webhook is damaged and was left out.');
      found.push(...page.items);
      cursor = page.cursor;
    } while (cursor !== undefined);
    return found.flatMap((record) => {
      if (record.value['paused'] === true) return [];
      if (isWebhook(record.value)) return [webhookSink(record, options)];
      logger.warn({ webhook: record.id, tenant }, 'A webhook is damaged and was left out.');
      return [];
    });
  };

  /** As they were listed last. */
  const known = new Map<string, Sink[]>();

  /** Where a tenant cannot be listed, its webhooks stay as they are, and those of others do not wait for it. */
  const ofTenantOrAsBefore = async (tenant: string): Promise<Sink[]> => {
    try {
      known.set(tenant, await ofTenant(tenant));
    } catch (error) {
      logger.warn({ err: error, tenant }, 'The webhooks of a tenant could not be listed; those that run go on.');
    }
    return known.get(tenant) ?? [];
  };

  const webhookOf = async (tenant: string, id: string): Promise<WebhookValue> => {
    const { value } = await records.get(KIND, id, { tenant });
    if (isWebhook(value)) return value as unknown as WebhookValue;
    throw new WaybillError('internal', `The webhook '${id}' is damaged.`, { hint: 'Remove it and make it anew.' });
  };

  const setPaused = async (tenant: string, id: string, paused: boolean, type: RecordFact['type']): Promise<void> => {
    for (let tries = 1; ; tries += 1) {
      const { value, version: expected } = await records.get(KIND, id, { tenant });
      const fact = { type, data: paused ? { reason: PAUSED_ON_REQUEST } : {} };
      try {
        await records.put({ kind: KIND, id, value: { ...value, paused }, expected, fact }, { tenant });
        return;
      } catch (error) {
        if (tries >= MOST_TRIES || !(error instanceof WaybillError) || error.code !== 'conflict') throw error;
      }
    }
  };

  return {
    start: () => {
      const source = {
        list: async () => {
          const all = await Promise.all((await sinks.tenantsWith(KIND)).map(ofTenantOrAsBefore));
          return all.flat();
        },
      };
      running ??= sinks.run(source, {
        ...(pauseAfterMs !== undefined && { pauseAfterMs }),
        ...(observe && { observe }),
      });
    },
    stop: async () => running?.stop(),
    checkUrl: (url, field) => void checkTarget(url, options, field),
    state: (tenant, id) => sinks.state({ tenant, id }),
    test: async (tenant, id) => {
      const webhook = await webhookOf(tenant, id);
      return tried(clock, async () => {
        const at = clock.now();
        const event = { type: 'webhook.test', tenant, subject: id, source: 'server', sequence: at, at } as const;
        return send(webhook, { ...event, data: { webhook_id: id }, cursor: '' }, options, never);
      });
    },
    redeliver: async (tenant, id, from: RedeliverFrom) => {
      const webhook = await webhookOf(tenant, id);
      if ('eventId' in from) {
        const event = await sinks.open(await eventById(events, tenant, from.eventId, clock));
        const { ok, error } = await tried(clock, () => send(webhook, event, options, never));
        if (!ok) throw new WaybillError('unavailable', `The event was not accepted. ${error}`);
        return;
      }
      // A cursor that is none is refused here, not by the sink.
      if ('after' in from) await events.read({ after: from.after, filter: { tenant }, limit: 1 });
      const asked = 'after' in from ? from.after : await cursorBefore(events, tenant, from.since, clock);
      // Read after the place was found: whatever is behind it then, and is not delivered, is behind this one too.
      const state = await sinks.state({ tenant, id });
      const isAhead = state !== null && (await leavesOut(events, tenant, { current: state.cursor, asked }, clock));
      // A webhook that is behind goes on from where it is, and so comes by what was asked for.
      await sinks.moveTo({ tenant, id }, isAhead ? state.cursor : asked);
    },
    pause: async (tenant, id) => {
      await setPaused(tenant, id, true, 'webhook.paused');
      await sinks.pause({ tenant, id }, PAUSED_ON_REQUEST);
    },
    resume: async (tenant, id) => {
      await webhookOf(tenant, id);
      await sinks.resume({ tenant, id });
      await setPaused(tenant, id, false, 'webhook.resumed');
    },
  };
}

/** One try, and how it went. */
async function tried(clock: Clock, call: () => ReturnType<typeof send>): Promise<TestAnswer> {
  const begun = clock.monotonic();
  const ms = () => Math.round(clock.monotonic() - begun);
  let status: number | undefined;
  try {
    const posted = await call();
    status = posted.status;
    checkAnswer(posted, clock);
    return { ok: true, status, ms: ms() };
  } catch (error) {
    const isTold = error instanceof SinkRefusal || error instanceof WaybillError;
    const said = isTold ? error.message : 'The delivery failed for an unexpected reason.';
    return { ok: false, ...(status !== undefined && { status }), error: said, ms: ms() };
  }
}
