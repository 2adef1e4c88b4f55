-- Does not make a queue known that was not.
-- Parameters: 1 tenant, 2 name.
with begun as (
  delete from {schema}.queue_starts where tenant = $1 and queue = $2
),
changed as (
  update {schema}.queues set concurrency = null, rate_limit = null, rate_period_ms = null
  where tenant = $1 and name = $2
  returning name, paused, keeps, concurrency, rate_limit, rate_period_ms
),
told as materialized (select pg_notify({channel}, json_build_array($2::text)::text) from changed)
select changed.* from changed cross join told
