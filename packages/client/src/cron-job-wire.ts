import type { CronRecord, Json, JsonObject, OverlapPolicy } from '@waybill/core';
import { present } from './present.ts';
import { toRfc3339 } from './time.ts';

/** A schedule in the words of the specification's HTTP binding, which most public clients read; the suites read WireCron. */
export interface WireCronJob {
  name: string;
  cron: string;
  timezone: string;
  type: string;
  args: Json[];
  meta?: JsonObject;
  options?: JsonObject;
  overlap_policy: OverlapPolicy;
  description?: string;
  enabled: boolean;
  status: 'active' | 'paused';
  /** Null while it is paused. */
  next_run_at: string | null;
  last_run_at?: string;
  run_count: number;
  created_at: string;
}

export function cronJobToWire(cron: CronRecord): WireCronJob {
  const { type, args, meta, options } = cron.template;
  return {
    name: cron.name,
    cron: cron.expression,
    timezone: cron.timezone,
    type: String(type),
    args: (args ?? []) as Json[],
    ...present('meta', meta as JsonObject | undefined),
    ...present('options', options as JsonObject | undefined),
    overlap_policy: cron.overlap,
    ...present('description', cron.description),
    enabled: cron.enabled,
    status: cron.enabled ? 'active' : 'paused',
    next_run_at: cron.nextAt === null ? null : toRfc3339(cron.nextAt),
    ...present('last_run_at', cron.lastAt === null ? null : toRfc3339(cron.lastAt)),
    run_count: cron.runs,
    created_at: toRfc3339(cron.createdAt),
  };
}
