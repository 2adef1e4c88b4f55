-- What the parents of jobs came to, in the order of their edges.
-- Parameters: 1 tenant, 2 children.
select e.child, e.parent, j.node, j.state, j.result
from {schema}.edges e
cross join lateral (
  select node, state, result from {schema}.live_jobs where tenant = $1 and id = e.parent
  union all
  select node, state, result from {schema}.ended_jobs where tenant = $1 and id = e.parent
  limit 1
) j
where e.child = any ($2::uuid[]) and e.tenant = $1
order by e.position
