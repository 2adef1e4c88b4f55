-- The jobs that prune-jobs removes, in its order.
-- Parameters: 1 dead (0 or 1), 2 ended before, 3 limit.
select tenant, id from jobs
where dead = ?1 and finished_at < ?2 and next_at is null
  and not exists (
    select 1 from workflows
    where workflows.tenant = jobs.tenant and workflows.id = jobs.workflow_id
      and (workflows.finished_at is null or workflows.finished_at >= ?2)
  )
order by finished_at, rowid
limit ?3
