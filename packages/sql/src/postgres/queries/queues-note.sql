-- Makes queues known that were not.
-- Parameters: 1 tenants, 2 names.
insert into {schema}.queues (tenant, name)
select distinct * from unnest($1::text[], $2::text[]) order by 1, 2
on conflict do nothing
