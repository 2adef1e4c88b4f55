-- What became of locked limits. Only a rate lets somebody in by itself, and only where somebody waits for it.
-- When they were last used is noted once in a while, so that the index of it mostly stays as it is.
-- Parameters: 1 tenants, 2 keys, 3 concurrency, 4 rate limit, 5 rate period, 6 holders, 7 unclaimed, 8 starts, 9 when the
-- rate lets go, 10 whether somebody has set the rule, 11 now, 12 how often the use is noted.
update {schema}.limits l set
  concurrency = x.concurrency, rate_limit = x.rate_limit, rate_period_ms = x.rate_period_ms, holders = x.holders,
  unclaimed = x.unclaimed, starts = x.starts, is_setting = x.is_setting,
  used_at = case when abs($11::bigint - l.used_at) < $12::bigint then l.used_at else $11 end,
  next_at = case when exists (
    select 1 from {schema}.jobs_live j
    where j.tenant = x.tenant and j.limit_key = x.key and j.state = 2 and not j.ready and j.limit_key is not null
  ) then x.free_at end
from rows from (
  unnest($1::text[]), unnest($2::text[]), unnest($3::int[]), unnest($4::int[]), unnest($5::bigint[]), unnest($6::int[]),
  unnest($7::int[]), unnest($8::text[]), unnest($9::bigint[]),
  unnest($10::boolean[])
) as x (tenant, key, concurrency, rate_limit, rate_period_ms, holders, unclaimed, starts, free_at, is_setting)
where l.tenant = x.tenant and l.key = x.key
