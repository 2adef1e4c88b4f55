-- Removes the workflows that ended first and whose nodes are gone.
-- Parameters: 1 ended before, 2 limit.
delete from {schema}.workflows w where (w.tenant, w.id) in (
  select tenant, id from {schema}.workflows o
  where o.finished_at < $1 and not exists (
    select 1 from {schema}.job_bodies b where b.tenant = o.tenant and b.workflow_id = o.id and b.workflow_id is not null
  )
  order by o.finished_at limit $2
)
returning 1
