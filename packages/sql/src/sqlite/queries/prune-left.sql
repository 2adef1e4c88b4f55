-- Whether pruning has left anything that is old enough.
-- Parameters: 1 finished before, 2 dead before, 3 events before, 4 records that expired before, 5 now.
select
  exists (
    select 1 from jobs
    where dead = 0 and finished_at < ?1 and next_at is null
      and not exists (
        select 1 from workflows
        where workflows.tenant = jobs.tenant and workflows.id = jobs.workflow_id
          and (workflows.finished_at is null or workflows.finished_at >= ?1)
      )
  )
  or exists (
    select 1 from jobs
    where dead = 1 and finished_at < ?2 and next_at is null
      and not exists (
        select 1 from workflows
        where workflows.tenant = jobs.tenant and workflows.id = jobs.workflow_id
          and (workflows.finished_at is null or workflows.finished_at >= ?2)
      )
  )
  or coalesce((select at from event_segments where at < ?3 or at <= ?5 order by id limit 1), ?3) < ?3
  or exists (
    select 1 from workflows
    where finished_at < ?1
      and not exists (select 1 from jobs where jobs.tenant = workflows.tenant and workflow_id = workflows.id)
  )
  or exists (select 1 from records where expires_at <= ?4 and version < ?4)
