-- The queues of those named whose rate holds up a job that is ready, with the starts that count.
-- Parameters: 1 tenant, 2 names.
select q.rate_limit, q.rate_period_ms, coalesce((
  select json_agg(json_build_array(s.slice, s.starts))::text from {schema}.queue_starts s
  where s.tenant = $1 and s.queue = q.name
), '[]')
from {schema}.queues q
cross join lateral (
  select 1 from {schema}.jobs_live where tenant = $1 and queue = q.name and ready order by place limit 1
) j
where q.tenant = $1 and q.name = any ($2::text[]) and not q.paused and q.rate_limit is not null
