-- Parameters: 1 tenant, 2 name.
select name, paused, keeps, concurrency, rate_limit, rate_period_ms from {schema}.queues
where tenant = $1 and name = $2 for no key update
