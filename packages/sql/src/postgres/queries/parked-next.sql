-- The jobs that get the next free slots of a limit, locked.
-- Parameters: 1 tenant, 2 key, 3 how many at most; null: all.
select {columns} from (
  select id as parked from {schema}.jobs_live
  where tenant = $1 and limit_key = $2 and state = 2 and not ready and limit_key is not null
  order by place limit $3
  for update
) p
cross join lateral (select * from {schema}.live_jobs where tenant = $1 and id = p.parked limit 1) j
order by place
