-- Parameters: 1 tenant.
select name, paused, keeps, concurrency, rate_limit, rate_period_ms from {schema}.queues where tenant = $1
order by name collate "C"
