-- A queue and how many of its jobs are in which state, up to a bound; totals count since it began.
-- Parameters: 1 tenant, 2 name, 3 count at most.
select
  q.name, q.paused, q.keeps, q.concurrency, q.rate_limit, q.rate_period_ms,
  (select count(*) from (
    select 1 from {schema}.jobs_live where tenant = $1 and queue = $2 and ready limit $3) j),
  (select count(*) from (
    select 1 from {schema}.jobs_live
    where tenant = $1 and queue = $2 and state = 2 and not ready and limit_key is not null limit $3) j),
  (select count(*) from (
    select 1 from {schema}.jobs_live
    where tenant = $1 and queue = $2 and state = 1 limit $3) j),
  (select count(*) from (
    select 1 from {schema}.jobs_live
    where tenant = $1 and queue = $2 and state = 6 limit $3) j),
  (select count(*) from (
    select 1 from {schema}.jobs_live where tenant = $1 and queue = $2 and state = 3 limit $3) j),
  least($3, (select count(*) from (
    select 1 from {schema}.jobs_live where tenant = $1 and queue = $2 and state = 4 limit $3) j) + (
    select coalesce(sum(b.count - coalesce((
      select sum(e.count) from {schema}.bundle_ends e
      where e.tenant = $1 and e.claim_id = b.claim_id and e.queue = $2
    ), 0)), 0)::bigint
    from {schema}.bundles b where b.tenant = $1 and b.queue = $2)),
  q.completed + t.completed, q.cancelled + t.cancelled, q.discarded + t.discarded,
  (select enqueued_at from {schema}.jobs_live where tenant = $1 and queue = $2 and ready order by place limit 1)
from (
  select name, paused, keeps, concurrency, rate_limit, rate_period_ms, completed, cancelled, discarded
  from {schema}.queues where tenant = $1 and name = $2
  union all
  -- One that was only noted; see note_queues_v1.
  select $2, false, true, null, null, null, 0, 0, 0
  where exists (select 1 from {schema}.queue_totals where tenant = $1 and queue = $2)
    and not exists (select 1 from {schema}.queues where tenant = $1 and name = $2)
) q
cross join lateral (
  select
    coalesce(sum(completed), 0)::bigint as completed, coalesce(sum(cancelled), 0)::bigint as cancelled,
    coalesce(sum(discarded), 0)::bigint as discarded
  from {schema}.queue_totals where tenant = $1 and queue = $2
) t
