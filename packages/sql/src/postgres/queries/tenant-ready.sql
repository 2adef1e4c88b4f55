-- The queues of a tenant in which something can be claimed; tells others of them. One probe per queue: a join could read all
-- jobs that are ready.
-- Parameters: 1 tenant.
with ready as materialized (
  select q.name from {schema}.queues q where q.tenant = $1 and (
    select 1 from {schema}.jobs_live l where l.tenant = $1 and l.queue = q.name and l.ready limit 1
  ) is not null
)
select name from ready
cross join lateral (select pg_notify({channel}, json_build_array(name)::text)) told
