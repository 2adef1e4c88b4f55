-- Parameters: 1 tenant, 2 name.
insert into {schema}.queues (tenant, name, paused) values ($1, $2, true)
on conflict (tenant, name) do update set paused = true
returning name, paused, keeps, concurrency, rate_limit, rate_period_ms
