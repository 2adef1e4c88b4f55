-- A window counts in tenths of its period, so it means nothing under another one and begins anew.
-- Parameters: 1 tenant, 2 name, 3 concurrency, 4 rate limit, 5 rate period.
with begun as (
  delete from {schema}.queue_starts s using {schema}.queues q
  where s.tenant = $1 and s.queue = $2 and q.tenant = $1 and q.name = $2 and q.rate_period_ms is distinct from $5::bigint
),
told as materialized (select pg_notify({channel}, json_build_array($2::text)::text))
insert into {schema}.queues (tenant, name, concurrency, rate_limit, rate_period_ms)
select $1, $2, $3::int, $4::int, $5::bigint from told
on conflict (tenant, name) do update set
  concurrency = excluded.concurrency, rate_limit = excluded.rate_limit, rate_period_ms = excluded.rate_period_ms
returning name, paused, keeps, concurrency, rate_limit, rate_period_ms
