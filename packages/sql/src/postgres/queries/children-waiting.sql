-- The children of jobs that have not begun.
-- Parameters: 1 tenant, 2 parents.
select {columns} from (
  select distinct child from {schema}.edges where tenant = $1 and parent = any ($2::uuid[])
) e
cross join lateral (select * from {schema}.live_jobs where tenant = $1 and id = e.child and state = 3 limit 1) j
