import { Fields, isObject } from '../check.ts';
import { checkPlain } from '../enqueue/envelope.ts';
import { invalidField, WaybillError } from '../errors.ts';
import { cronChanged } from '../events/told.ts';
import type { JsonObject } from '../json.ts';
import { type CronRecord, MISFIRE_POLICIES, OVERLAP_POLICIES } from '../store/crons.ts';
import type { Store } from '../store/store.ts';
import type { Transport } from '../transport/transport.ts';
import type { CronRequest, Crons } from '../waybill.ts';
import { checkSchedule, nextTick } from './schedule.ts';

const NAME = /^[a-z0-9][a-z0-9.-]*$/;
const MAX_NAME = 255;
const MOST_CATCH_UPS = 1_000;

/** Rounds in which others may keep changing a cron that is switched on or off. */
const MAX_ROUNDS = 20;

/** Schedules, kept in the store: created, changed, paused and removed at run time. */
export function crons(
  store: Store,
  transport: Pick<Transport, 'checkQueue'>,
  onChanged: (nextAt: number | null) => void,
): Crons {
  const mustGet = async (tenant: string, name: string): Promise<CronRecord> => {
    const cron = await store.crons.get(tenant, name);
    if (cron === null) throw cronNotFound(name);
    return cron;
  };

  async function put(cron: CronRecord, fact: 'registered'): Promise<CronRecord> {
    const stored = await store.crons.put(cron, cronChanged(fact, cron, store.clock.now()));
    onChanged(stored.nextAt);
    return stored;
  }

  /** Compare-and-set: a cron that others have changed meanwhile is read again, one that they removed stays removed. */
  async function setEnabled(tenant: string, name: string, enabled: boolean): Promise<CronRecord> {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const cron = await mustGet(tenant, name);
      if (cron.enabled === enabled) return cron;
      const now = store.clock.now();
      const nextAt = enabled ? nextTick(cron, now) : null;
      const told = cronChanged(enabled ? 'enabled' : 'disabled', { ...cron, enabled, nextAt }, now);
      const stored = await store.crons.enable({ tenant, name, expected: cron.version, enabled, nextAt }, told);
      if (stored === null) continue;
      onChanged(stored.nextAt);
      return stored;
    }
    throw new WaybillError('unavailable', `Others keep changing the cron '${name}'. Try again.`);
  }

  return {
    put: async (request, { tenant = '' } = {}) => {
      const now = store.clock.now();
      const cron = checkCron(request, tenant, now);
      if (transport.checkQueue) await transport.checkQueue(tenant, checkPlain(cron.template, now).queue);
      const before = await store.crons.get(tenant, cron.name);
      return put({ ...cron, version: (before?.version ?? 0) + 1 }, 'registered');
    },
    get: (name, { tenant = '' } = {}) => mustGet(tenant, name),
    list: ({ tenant = '' } = {}) => store.crons.list(tenant),
    setEnabled: (name, enabled, { tenant = '' } = {}) => setEnabled(tenant, name, enabled),
    remove: async (name, { tenant = '' } = {}) => {
      const cron = await mustGet(tenant, name);
      const removed = await store.crons.remove(tenant, name, cronChanged('removed', cron, store.clock.now()));
      if (removed === null) throw cronNotFound(name);
      onChanged(null);
      return removed;
    },
  };
}

export const cronNotFound = (name: string): WaybillError =>
  new WaybillError('not_found', `There is no cron '${name}'.`, { details: { name } });

function checkCron(request: CronRequest, tenant: string, now: number): CronRecord {
  const fields = new Fields(request);
  const name = fields.requiredString('name', { max: MAX_NAME });
  if (!NAME.test(name)) throw invalidField('name', "must be lower-case letters, digits, '.' and '-'.");
  const expression = fields.string('expression', { max: MAX_NAME }) ?? fields.string('cron', { max: MAX_NAME });
  if (expression === undefined) throw invalidField('expression', 'is required.');
  if (fields.has('expression') && fields.has('cron'))
    throw invalidField('cron', "means the same as 'expression': send one.");
  const schedule = { expression: expression.trim(), timezone: fields.string('timezone', { max: MAX_NAME }) ?? 'UTC' };
  checkSchedule(schedule, now);
  const enabled = fields.boolean('enabled') ?? true;
  return {
    tenant,
    name,
    ...schedule,
    overlap: fields.oneOf('overlap_policy', OVERLAP_POLICIES) ?? 'skip',
    misfire: fields.oneOf('misfire_policy', MISFIRE_POLICIES) ?? 'run_once',
    catchUpLimit: fields.integer('catch_up_limit', { min: 1, max: MOST_CATCH_UPS }) ?? 10,
    enabled,
    description: fields.string('description') ?? null,
    template: templateOf(fields, now),
    nextAt: enabled ? nextTick(schedule, now) : null,
    lastAt: null,
    lastJobId: null,
    runs: 0,
    createdAt: now,
    version: 1,
  };
}

function templateOf(fields: Fields, now: number): JsonObject {
  const template = templateIn(fields);
  if (!isObject(template)) throw invalidField('job_template', 'must be an object.');
  if (template['id'] !== undefined) throw invalidField('job_template.id', 'cannot be set: every tick makes a new job.');
  checkPlain(template, now);
  return template;
}

/** What a template may also have at the top. */
const TEMPLATE: ReadonlySet<string> = new Set(['type', 'args', 'meta', 'options', 'queue']);

/** `job_template`, or the job's fields beside the schedule's, as the specification's text has them. */
export const templateIn = (fields: Fields): JsonObject =>
  fields.object('job_template') ?? { args: [], ...fields.some(TEMPLATE) };
