-- Whether pruning has left anything that is old enough.
-- Parameters: 1 ended before, 2 dead letters that ended before, 3 events before, 4 workflows that ended before,
-- 5 records that expired before, 6 now.
select
  exists (
    select 1 from {schema}.job_ends e
    where e.finished_at < $1 and not e.dead and not {schema}.workflow_keeps_v1(e.tenant, e.id, $1)
  )
  or exists (
    select 1 from {schema}.job_ends e
    where e.finished_at < $2 and e.dead and not {schema}.workflow_keeps_v1(e.tenant, e.id, $2)
  )
  or coalesce((select at from {schema}.event_segments where at < $3 or at <= $6 order by seq limit 1), $3) < $3
  or exists (
    select 1 from {schema}.workflows o
    where o.finished_at < $4 and not exists (
      select 1 from {schema}.job_bodies b
      where b.tenant = o.tenant and b.workflow_id = o.id and b.workflow_id is not null
    )
  )
  or exists (select 1 from {schema}.records where expires_at <= $5 and version < $5)
