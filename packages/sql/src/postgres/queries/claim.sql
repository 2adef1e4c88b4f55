-- Parameters: as of claim_v1.
select
  claim_id, worker_id, started_at, lease_ms, queue, type, version, run, attempt, max_attempts, ids, places, created_at,
  enqueued_at, specs, rest
from {schema}.claim_v1($1, $2, $3, $4, $5, $6, $7, $8, $9)
