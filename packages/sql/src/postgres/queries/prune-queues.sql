-- Removes queues without a setting in which nothing has ended for long, and in which no job can be claimed, runs, or waits
-- for its time. Jobs that wait for a slot or for another job, and runs in bundles, are not looked for, since no index has
-- them by queue: they need no row of their queue, and their ends make one.
-- Parameters: 1 last used before, 2 limit.
with old as materialized (
  select o.tenant, o.name from {schema}.queues o
  where o.used_at < $1 and not o.paused and o.keeps and o.concurrency is null and o.rate_limit is null
    and not exists (select 1 from {schema}.jobs_live j where j.tenant = o.tenant and j.queue = o.name and j.ready)
    and not exists (
      select 1 from {schema}.jobs_live j where j.tenant = o.tenant and j.queue = o.name and j.state in (1, 6)
    )
    and not exists (select 1 from {schema}.jobs_live j where j.tenant = o.tenant and j.queue = o.name and j.state = 4)
    and not exists (select 1 from {schema}.queue_totals t where t.tenant = o.tenant and t.queue = o.name)
  limit $2
  for update skip locked
)
delete from {schema}.queues q using old where q.tenant = old.tenant and q.name = old.name
returning q.tenant, q.name
