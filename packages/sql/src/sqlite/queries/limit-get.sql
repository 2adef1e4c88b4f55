-- Parameters: 1 tenant, 2 key.
select concurrency, rate_limit, rate_period_ms, holders, unclaimed, starts, used_at from limits
where tenant = ?1 and key = ?2
