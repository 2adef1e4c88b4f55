-- Locks limits in the order of their keys.
-- Parameters: 1 tenants, 2 keys.
select l.tenant, l.key, l.concurrency, l.rate_limit, l.rate_period_ms, l.holders, l.unclaimed, l.starts, l.is_setting
from (select distinct * from unnest($1::text[], $2::text[]) as x (tenant, key) order by 1, 2) x
cross join lateral (
  select * from {schema}.limits l where l.tenant = x.tenant and l.key = x.key for update
) l
