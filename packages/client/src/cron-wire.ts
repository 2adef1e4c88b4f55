import type { CronRecord, JsonObject, MisfirePolicy, OverlapPolicy } from '@waybill/core';
import { present } from './present.ts';
import { fromRfc3339, toRfc3339 } from './time.ts';

/** A schedule as the API shows it. */
export interface WireCron {
  name: string;
  expression: string;
  timezone: string;
  overlap_policy: OverlapPolicy;
  misfire_policy: MisfirePolicy;
  catch_up_limit: number;
  enabled: boolean;
  description?: string;
  /** Absent while it is paused. */
  next_run_at?: string;
  last_run_at?: string;
  run_count: number;
  created_at: string;
  /** The job of each tick, as it was sent. */
  job_template: JsonObject;
}

export function cronToWire(cron: CronRecord): WireCron {
  return {
    name: cron.name,
    expression: cron.expression,
    timezone: cron.timezone,
    overlap_policy: cron.overlap,
    misfire_policy: cron.misfire,
    catch_up_limit: cron.catchUpLimit,
    enabled: cron.enabled,
    ...present('description', cron.description),
    ...present('next_run_at', cron.nextAt === null ? null : toRfc3339(cron.nextAt)),
    ...present('last_run_at', cron.lastAt === null ? null : toRfc3339(cron.lastAt)),
    run_count: cron.runs,
    created_at: toRfc3339(cron.createdAt),
    job_template: cron.template,
  };
}

/** The wire carries neither the id of the last job (null) nor the version (0). */
export const cronFromWire = (wire: WireCron, tenant: string): CronRecord => ({
  tenant,
  name: wire.name,
  expression: wire.expression,
  timezone: wire.timezone,
  overlap: wire.overlap_policy,
  misfire: wire.misfire_policy,
  catchUpLimit: wire.catch_up_limit,
  enabled: wire.enabled,
  description: wire.description ?? null,
  template: wire.job_template,
  nextAt: fromRfc3339(wire.next_run_at),
  lastAt: fromRfc3339(wire.last_run_at),
  lastJobId: null,
  runs: wire.run_count,
  createdAt: Date.parse(wire.created_at),
  version: 0,
});
