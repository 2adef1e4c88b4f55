-- Parameters: 1 tenant, 2 name.
insert into {schema}.queues (tenant, name) values ($1, $2) on conflict (tenant, name) do nothing
