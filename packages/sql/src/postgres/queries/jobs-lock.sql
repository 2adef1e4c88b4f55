-- Locks living jobs in the order of their ids.
-- Parameters: 1 tenant, 2 ids.
select 1 from (select x from unnest($2::uuid[]) x order by 1) x
cross join lateral (select 1 from {schema}.jobs_live where tenant = $1 and id = x.x for update) y
