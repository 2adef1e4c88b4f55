-- Parameters: 1 tenant, 2 concurrency.
insert into {schema}.tenant_limits (tenant, concurrency) values ($1, $2)
on conflict (tenant) do update set concurrency = excluded.concurrency
