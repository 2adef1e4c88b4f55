-- Removes the jobs that ended first. One whose dependents were not looked at yet still has work to do.
-- Parameters: 1 dead (0 or 1), 2 ended before, 3 limit.
delete from jobs where rowid in (
  select rowid from jobs
  where dead = ?1 and finished_at < ?2 and next_at is null
  order by finished_at
  limit ?3
)
returning tenant, id, workflow_id, unique_key
