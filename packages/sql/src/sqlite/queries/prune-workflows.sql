-- Removes the workflows that ended first and whose nodes are gone.
-- Parameters: 1 ended before, 2 limit.
delete from workflows where (tenant, id) in (
  select tenant, id from workflows
  where finished_at < ?1
    and not exists (select 1 from jobs where jobs.tenant = workflows.tenant and workflow_id = workflows.id)
  order by finished_at
  limit ?2
)
returning tenant, id
