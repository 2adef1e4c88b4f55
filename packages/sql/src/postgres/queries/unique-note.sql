-- Makes unique keys known that were not, so that there is something to lock.
-- Parameters: 1 tenants, 2 keys.
insert into {schema}.unique_keys (tenant, key)
select distinct * from unnest($1::text[], $2::text[]) order by 1, 2
on conflict do nothing
