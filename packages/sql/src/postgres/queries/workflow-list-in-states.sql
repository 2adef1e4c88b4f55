-- Newest first, a page of each state put together.
-- Parameters: 1 tenant, 2 id to continue behind or null, 3 limit, 4 states.
select w.* from (select distinct * from unnest($4::text[])) as s (state)
cross join lateral (
  select * from {schema}.workflows
  where tenant = $1 and state = s.state and ($2::text is null or id < $2)
  order by id desc limit $3
) w
order by w.id desc limit $3
