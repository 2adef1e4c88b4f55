-- Begins a run: the columns that the transition 'claim' changes.
-- Parameters: 1 next_at, 2 version, 3 run, 4 attempt, 5 claim id, 6 worker id, 7 lease_ms, 8 lease_until, 9 timeout_at,
-- 10 started_at, 11 tenant, 12 id.
update jobs set
  state = 'active', rank = null, outcome = null, next_at = ?1, version = ?2, run = ?3, attempt = ?4, claim_id = ?5,
  worker_id = ?6, lease_ms = ?7, lease_until = ?8, timeout_at = ?9, started_at = ?10
where tenant = ?11 and id = ?12
