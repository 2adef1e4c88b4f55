-- Parameters: 1 tenant, 2 name, 3 concurrency, 4 rate limit, 5 rate period, 6 active, 7 starts.
insert into queues (tenant, name, concurrency, rate_limit, rate_period_ms, active, starts)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7)
on conflict do update set
  concurrency = excluded.concurrency, rate_limit = excluded.rate_limit, rate_period_ms = excluded.rate_period_ms,
  active = excluded.active, starts = excluded.starts
