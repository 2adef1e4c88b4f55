-- What became of locked limits. Only a rate lets somebody in by itself, and only where somebody waits for it.
-- Parameters: 1 tenants, 2 keys, 3 concurrency, 4 rate limit, 5 rate period, 6 holders, 7 unclaimed, 8 starts, 9 when the
-- rate lets go.
update {schema}.limits l set
  concurrency = x.concurrency, rate_limit = x.rate_limit, rate_period_ms = x.rate_period_ms, holders = x.holders,
  unclaimed = x.unclaimed, starts = x.starts,
  next_at = case when exists (
    select 1 from {schema}.jobs_live j
    where j.tenant = x.tenant and j.limit_key = x.key and j.state = 2 and not j.ready and j.limit_key is not null
  ) then x.free_at end
from rows from (
  unnest($1::text[]), unnest($2::text[]), unnest($3::int[]), unnest($4::int[]), unnest($5::bigint[]), unnest($6::int[]),
  unnest($7::int[]), unnest($8::text[]), unnest($9::bigint[])
) as x (tenant, key, concurrency, rate_limit, rate_period_ms, holders, unclaimed, starts, free_at)
where l.tenant = x.tenant and l.key = x.key
