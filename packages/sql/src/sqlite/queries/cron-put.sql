-- Creates a cron, or replaces one that keeps its creation time, what it has done so far and, with the same schedule, its
-- next tick, which may be due already.
-- Parameters: a CronRow, column by column (cron-rows.ts).
insert into crons (
  tenant, name, expression, timezone, overlap, misfire, catch_up_limit, enabled, description, template, next_at,
  last_at, last_job_id, runs, created_at, version
) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict do update set
  expression = excluded.expression, timezone = excluded.timezone, overlap = excluded.overlap,
  misfire = excluded.misfire, catch_up_limit = excluded.catch_up_limit, enabled = excluded.enabled,
  description = excluded.description, template = excluded.template,
  next_at = case
    when crons.expression = excluded.expression and crons.timezone = excluded.timezone
      and crons.enabled = excluded.enabled then coalesce(crons.next_at, excluded.next_at)
    else excluded.next_at
  end,
  version = max(excluded.version, crons.version + 1)
returning *
