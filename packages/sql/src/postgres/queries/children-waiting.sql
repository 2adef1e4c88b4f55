-- The children of jobs that have not begun, also behind joins.
-- Parameters: 1 tenant, 2 parents.
with joins as materialized (
  select distinct child as id from {schema}.edges where tenant = $1 and parent = any ($2::uuid[]) and kind = 1
)
select {columns} from (
  select distinct child from {schema}.edges
  where tenant = $1 and parent = any ($2::uuid[] || array(select id from joins)) and kind <> 1
) e
cross join lateral (select * from {schema}.live_jobs where tenant = $1 and id = e.child and state = 3 limit 1) j
