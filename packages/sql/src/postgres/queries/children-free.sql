-- The children of jobs that wait for nobody any more, also behind joins.
-- Parameters: 1 tenant, 2 parents.
with joins as materialized (
  select distinct i.child as id from {schema}.edges i
  where i.tenant = $1 and i.parent = any ($2::uuid[]) and i.kind = 1
    and not exists (select 1 from {schema}.edges o where o.tenant = $1 and o.child = i.child and not o.met)
)
select {columns} from (
  select distinct child from {schema}.edges
  where tenant = $1 and parent = any ($2::uuid[] || array(select id from joins)) and kind <> 1
) e
cross join lateral (select * from {schema}.live_jobs where tenant = $1 and id = e.child and state = 3 limit 1) j
where not exists (select 1 from {schema}.edges o where o.tenant = $1 and o.child = e.child and not o.met)
