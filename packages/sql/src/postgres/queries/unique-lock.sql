-- Locks unique keys in their order, and tells whose they are.
-- Parameters: 1 tenants, 2 keys.
select k.tenant, k.key, k.job_id
from (select distinct * from unnest($1::text[], $2::text[]) as x (tenant, key) order by 1, 2) x
cross join lateral (
  select * from {schema}.unique_keys k where k.tenant = x.tenant and k.key = x.key for update
) k
