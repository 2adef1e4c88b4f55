-- Sets a rule. Starts are counted in parts of the period, so another period counts them anew.
-- Parameters: 1 tenant, 2 key, 3 concurrency, 4 rate limit, 5 rate period, 6 starts.
insert into limits (tenant, key, concurrency, rate_limit, rate_period_ms, starts) values (?1, ?2, ?3, ?4, ?5, ?6)
on conflict do update set
  concurrency = excluded.concurrency, rate_limit = excluded.rate_limit, rate_period_ms = excluded.rate_period_ms,
  starts = excluded.starts
