-- A limit, and how many jobs wait for it.
-- Parameters: 1 tenant, 2 key, 3 count at most.
select concurrency, rate_limit, rate_period_ms, holders, (
  select count(*) from (
    select 1 from {schema}.jobs_live
    where tenant = $1 and limit_key = $2 and state = 2 and not ready and limit_key is not null
    limit $3
  ) p
)
from {schema}.limits where tenant = $1 and key = $2
