-- Removes the jobs that ended first. One whose dependents were not looked at yet still has work to do, and a node stays as
-- long as its workflow.
-- Parameters: 1 dead (0 or 1), 2 ended before, 3 limit.
delete from jobs where rowid in (
  select rowid from jobs
  where dead = ?1 and finished_at < ?2 and next_at is null
    and not exists (
      select 1 from workflows
      where workflows.tenant = jobs.tenant and workflows.id = jobs.workflow_id
        and (workflows.finished_at is null or workflows.finished_at >= ?2)
    )
  order by finished_at, rowid
  limit ?3
)
returning tenant, id, workflow_id, unique_key
