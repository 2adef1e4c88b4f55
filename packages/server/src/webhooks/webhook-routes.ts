import { randomBytes } from 'node:crypto';
import { type Fields, invalidField, type JsonObject, type StoredRecord, WaybillError } from '@waybill/core';
import { auditedCall } from '../audit/audited-call.ts';
import { answer } from '../http/answer.ts';
import { readBody, readOptionalBody } from '../http/body.ts';
import type { App, Ctx } from '../http/env.ts';
import { readMoment } from '../http/moment.ts';
import { pathText } from '../http/path-text.ts';
import { webhooks as kind } from '../records/kinds.ts';
import { checkExpected, checkRoom, recordsOf, recordToWire } from '../records/record-routes.ts';
import type { Surface } from '../surface.ts';
import { checkWebhookSecret, newWebhookSecret } from './secret.ts';
import type { RedeliverFrom, TestAnswer, WebhookService, WebhookValue } from './service.ts';
import { KEEP_OLD_MS, rotated, WEBHOOK_KIND, webhookFromValue, webhookToValue } from './webhook.ts';

const ALL = '/waybill/v1/webhooks';
const ONE = `${ALL}/:id`;
const MOST_KEEP_OLD_MS = 30 * 86_400_000;

/** What webhooks have beside the routes of every kind of record. */
export function webhookRoutes(app: App, surface: Surface): void {
  const { maxBodyBytes, clock } = surface;
  const toWire = (c: Ctx, record: StoredRecord) => recordToWire(c, surface, kind, record);

  /** Goes by the version that was read, so that nothing is lost which another call changes meanwhile. */
  const change = async (c: Ctx, changed: (webhook: WebhookValue) => WebhookValue): Promise<StoredRecord> => {
    const id = pathText(c, 'id');
    const before = await recordsOf(c).get(WEBHOOK_KIND, id);
    checkExpected(c, WEBHOOK_KIND, before.version);
    const value = webhookToValue(changed(webhookFromValue(before.value)));
    const fact = kind.fact(before.value, value)!;
    return recordsOf(c).put({ kind: WEBHOOK_KIND, id, value, expected: before.version, fact });
  };

  /** For calls without a body. */
  const asked = async (c: Ctx): Promise<StoredRecord> => {
    (await readOptionalBody(c, maxBodyBytes)).refuseUnknown([]);
    const record = await recordsOf(c).get(WEBHOOK_KIND, pathText(c, 'id'));
    checkExpected(c, WEBHOOK_KIND, record.version);
    return record;
  };

  const shown = async (c: Ctx, record: StoredRecord, more: JsonObject = {}, status: 200 | 201 = 200) => {
    c.header('ETag', `"${record.version}"`);
    return answer(c, { [WEBHOOK_KIND]: await toWire(c, record), ...more }, status);
  };

  app.post(ALL, async (c) => {
    c.set('meant', { action: 'webhooks.create' });
    const body = await readBody(c, maxBodyBytes);
    body.refuseUnknown(kind.fields);
    const value = kind.read(body, { before: null, surface });
    await checkRoom(recordsOf(c), kind);
    const id = `wh_${randomBytes(8).toString('hex')}`;
    const fact = kind.fact(null, value)!;
    const record = await recordsOf(c).put({ kind: WEBHOOK_KIND, id, value, expected: 0, fact });
    return shown(c, record, kind.shownOnce!(null, value), 201);
  });

  app.post(`${ONE}/rotate-secret`, async (c) => {
    c.set('meant', { action: 'webhooks.rotate' });
    const body = await readOptionalBody(c, maxBodyBytes);
    body.refuseUnknown(['secret', 'keep_old_ms']);
    const given = body.string('secret');
    const secret = given === undefined ? newWebhookSecret() : checkWebhookSecret(given);
    const keepOldMs = body.integer('keep_old_ms', { min: 0, max: MOST_KEEP_OLD_MS }) ?? KEEP_OLD_MS;
    const record = await change(c, (webhook) => rotated(webhook, secret, { now: clock.now(), keepOldMs }));
    return shown(c, record, { secret });
  });

  app.post(`${ONE}/pause`, async (c) => {
    c.set('meant', { action: 'webhooks.pause' });
    const before = await asked(c);
    if (webhookFromValue(before.value).paused) return shown(c, before);
    if (surface.webhooks === undefined) return shown(c, await change(c, (webhook) => ({ ...webhook, paused: true })));
    const { webhooks } = surface;
    await auditedCall(c, { action: 'webhooks.pause', target: before.id }, () => webhooks.pause(tenantOf(c), before.id));
    return shown(c, await recordsOf(c).get(WEBHOOK_KIND, before.id));
  });

  app.post(`${ONE}/resume`, async (c) => {
    c.set('meant', { action: 'webhooks.resume' });
    const before = await asked(c);
    const { paused } = webhookFromValue(before.value);
    if (surface.webhooks === undefined) {
      return shown(c, paused ? await change(c, (webhook) => ({ ...webhook, paused: false })) : before);
    }
    const state = await surface.webhooks.state(tenantOf(c), before.id);
    // One that fails is tried again at once, and forgets how often it has failed.
    const isWell = !paused && (state === null || (state.status === 'active' && state.failingSince === null));
    const { webhooks } = surface;
    if (!isWell)
      await auditedCall(c, { action: 'webhooks.resume', target: before.id }, () =>
        webhooks.resume(tenantOf(c), before.id),
      );
    return shown(c, await recordsOf(c).get(WEBHOOK_KIND, before.id));
  });

  app.post(`${ONE}/test`, async (c) => {
    c.set('meant', { action: 'webhooks.test' });
    const { id } = await asked(c);
    const outcomeOf = (answer: TestAnswer) => (answer.ok ? 'ok' : 'unavailable');
    const { ok, status, error, ms } = await auditedCall(c, { action: 'webhooks.test', target: id, outcomeOf }, () =>
      serviceOf(surface).test(tenantOf(c), id),
    );
    return answer(c, {
      test: { ok, ms, ...(status !== undefined && { status }), ...(error !== undefined && { error }) },
    });
  });

  app.post(`${ONE}/redeliver`, async (c) => {
    c.set('meant', { action: 'webhooks.redeliver' });
    const body = await readBody(c, maxBodyBytes);
    body.refuseUnknown(['since', 'after', 'event_id']);
    const from = redeliverFrom(body);
    const record = await recordsOf(c).get(WEBHOOK_KIND, pathText(c, 'id'));
    await auditedCall(c, { action: 'webhooks.redeliver', target: record.id }, () =>
      serviceOf(surface).redeliver(tenantOf(c), record.id, from),
    );
    return shown(c, record);
  });
}

function redeliverFrom(body: Fields): RedeliverFrom {
  const since = readMoment('since', body.string('since'));
  const after = body.string('after', { max: 4_096 });
  const eventId = body.string('event_id');
  const [from, ...more] = [
    ...(since === undefined ? [] : [{ since }]),
    ...(after === undefined ? [] : [{ after }]),
    ...(eventId === undefined ? [] : [{ eventId }]),
  ];
  if (from !== undefined && more.length === 0) return from;
  throw invalidField('since', "or 'after' or 'event_id' is needed, and only one of them.");
}

const tenantOf = (c: Ctx): string => c.get('tenant') ?? '';

function serviceOf({ webhooks }: Surface): WebhookService {
  if (webhooks) return webhooks;
  throw new WaybillError('unsupported', 'Nothing delivers webhooks in this process.', {
    hint: 'Ask a server that was started with `waybill serve`.',
  });
}
