-- Queues that were only noted are listed too; see note_queues_v1.
-- Parameters: 1 tenant.
select name, paused, keeps, concurrency, rate_limit, rate_period_ms
from (
  select name, paused, keeps, concurrency, rate_limit, rate_period_ms from {schema}.queues where tenant = $1
  union all
  select distinct t.queue, false, true, null::int, null::int, null::bigint from {schema}.queue_totals t
  where t.tenant = $1 and not exists (select 1 from {schema}.queues q where q.tenant = $1 and q.name = t.queue)
) known
order by name collate "C"
