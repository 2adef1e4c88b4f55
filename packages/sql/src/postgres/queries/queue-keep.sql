-- Does not make a queue known that was not.
-- Parameters: 1 tenant, 2 name.
update {schema}.queues set keeps = true where tenant = $1 and name = $2
returning name, paused, keeps, concurrency, rate_limit, rate_period_ms
