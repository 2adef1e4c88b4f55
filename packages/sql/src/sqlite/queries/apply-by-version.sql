-- Writes a change if nobody wrote to the row since it was read.
-- Parameters: 1-30 MutableCells (rows.ts), 31 tenant, 32 id, 33 version, 34 next_at, 35 holds_slot.
update jobs set
  type = ?1, queue = ?2, priority = ?3, seq = ?4, state = ?5, rank = ?6, next_at = ?7, version = ?8,
  run = ?9, attempt = ?10, max_attempts = ?11, claim_id = ?12, worker_id = ?13, lease_ms = ?14,
  lease_until = ?15, outcome = ?16, timeout_ms = ?17, timeout_at = ?18, visibility_ms = ?19,
  enqueued_at = ?20, scheduled_at = ?21, started_at = ?22, finished_at = ?23, expires_at = ?24,
  retry_delay_ms = ?25, dead = ?26, holds_slot = ?27, advance_pending = ?28, errors = ?29, result = ?30
where tenant = ?31 and id = ?32 and version = ?33 and next_at is ?34 and holds_slot = ?35
