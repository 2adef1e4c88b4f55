-- Stores a job, or changes nothing when its id or its idempotency key is taken.
-- Parameters: a Row, column by column (rows.ts).
insert into jobs (
  tenant, id, type, queue, priority, seq, state, rank, next_at, version, run, attempt, max_attempts,
  claim_id, worker_id, lease_ms, lease_until, outcome, timeout_ms, timeout_at, visibility_ms, enqueued_at,
  scheduled_at, started_at, finished_at, expires_at, retry_delay_ms, dead, holds_slot, advance_pending,
  errors, result, created_at, idempotency_key, unique_key, limit_key, workflow_id, node, spec
) values (
  ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
  ?, ?, ?
) on conflict do nothing
