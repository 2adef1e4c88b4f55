-- Removes the workflows that ended first and whose nodes are gone, with the names of these and the counters of their events.
-- Parameters: 1 ended before, 2 limit.
with gone as (
  delete from {schema}.workflows w where (w.tenant, w.id) in (
    select tenant, id from {schema}.workflows o
    where o.finished_at < $1 and not exists (
      select 1 from {schema}.job_bodies b where b.tenant = o.tenant and b.workflow_id = o.id and b.workflow_id is not null
    )
    order by o.finished_at limit $2
  )
  returning w.tenant, w.id
),
counters as (
  delete from {schema}.subjects s using gone
  where s.tenant = gone.tenant and s.kind = 'workflow' and s.subject = gone.id
),
names as (
  delete from {schema}.workflow_nodes n using gone where n.tenant = gone.tenant and n.workflow_id = gone.id
)
select 1 from gone
