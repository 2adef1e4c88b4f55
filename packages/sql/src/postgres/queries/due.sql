-- Not the rows that another transaction holds: the sweep would wait for an application that leaves its transaction open.
-- They stay due, and come up once it has ended.
-- Parameters: 1 now, 2 limit.
select {columns} from (
  select * from (
    select * from (
      select tenant as t, id as i, next_at as n from {schema}.jobs_live
      where state = 4 and next_at <= $1 order by next_at limit $2 for share skip locked
    ) active
    union all
    select * from (
      select tenant, id, next_at from {schema}.jobs_live
      where state <> 4 and next_at is not null and next_at <= $1 order by next_at limit $2 for share skip locked
    ) waiting
  ) d order by n limit $2
) d
cross join lateral (select * from {schema}.live_jobs where tenant = d.t and id = d.i limit 1) j
order by next_at
