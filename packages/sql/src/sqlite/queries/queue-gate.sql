-- What holds a claim up.
-- Parameters: 1 tenant, 2 name.
select paused, concurrency, rate_limit, rate_period_ms, active, starts from queues
where tenant = ?1 and name = ?2 and (paused = 1 or concurrency is not null or rate_limit is not null)
