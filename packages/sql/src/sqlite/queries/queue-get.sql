-- Parameters: 1 tenant, 2 name.
select paused, keeps, concurrency, rate_limit, rate_period_ms, active, starts, completed, cancelled, discarded
from queues where tenant = ?1 and name = ?2
