-- When the sweep must look again, behind the jobs, the crons and the workflows that it was given.
-- Parameters: 1 number of jobs given, 2 number of crons given, 3 number of workflows given.
select
  (
    select next_at from (
      (
        select next_at from {schema}.jobs_live where state = 4 and next_at is not null
        order by next_at limit $1::bigint + 1
      )
      union all
      (
        select next_at from {schema}.jobs_live where state <> 4 and next_at is not null
        order by next_at limit $1::bigint + 1
      )
    ) j order by next_at limit 1 offset $1::bigint
  ),
  (
    select next_at from {schema}.crons where next_at is not null and enabled
    order by next_at limit 1 offset $2::bigint
  ),
  (
    select next_at from {schema}.workflows where next_at is not null
    order by next_at limit 1 offset $3::bigint
  ),
  (select next_at from {schema}.limits where next_at is not null order by next_at limit 1),
  (select next_at from {schema}.bundles order by next_at limit 1)
