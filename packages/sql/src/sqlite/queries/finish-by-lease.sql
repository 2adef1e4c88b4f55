-- Ends a job whose run is still under way: the columns that an end changes, since during a run nobody writes the others.
-- Every column named here costs a look at each index that has it, so the common case names the fewest.
-- Parameters: 1 state, 2 next_at, 3 version, 4 outcome, 5 finished_at, 6 dead, 7 advance_pending, 8 errors, 9 result,
-- 10 tenant, 11 id, 12 run, 13 claim id.
update jobs set
  state = ?1, next_at = ?2, version = ?3, outcome = ?4, finished_at = ?5, dead = ?6, advance_pending = ?7, errors = ?8,
  result = ?9, lease_until = null, timeout_at = null, holds_slot = 0
where tenant = ?10 and id = ?11 and state = 'active' and run = ?12 and claim_id = ?13
