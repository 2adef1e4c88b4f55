-- Parameters: 1 tenant.
select name, paused, keeps, concurrency, rate_limit, rate_period_ms from queues where tenant = ?1 order by name
