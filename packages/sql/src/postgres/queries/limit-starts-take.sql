-- The starts that were not added to their limits yet.
-- Parameters: 1 tenants, 2 keys.
delete from {schema}.limit_starts s using unnest($1::text[], $2::text[]) as x (tenant, key)
where s.tenant = x.tenant and s.key = x.key
returning s.tenant, s.key, s.at, s.starts
