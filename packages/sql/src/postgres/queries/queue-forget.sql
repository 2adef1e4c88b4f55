-- Parameters: 1 tenant, 2 name.
insert into {schema}.queues (tenant, name, keeps) values ($1, $2, false)
on conflict (tenant, name) do update set keeps = false
returning name, paused, keeps, concurrency, rate_limit, rate_period_ms
