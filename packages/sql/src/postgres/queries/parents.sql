-- What the parents of jobs came to, in the order of their edges. Behind a join these are the parents of the join.
-- Parameters: 1 tenant, 2 children.
select e.child, e.parent, j.node, j.state, j.result
from (
  select child, parent, position from {schema}.edges where child = any ($2::uuid[]) and tenant = $1 and kind = 0
  union all
  select o.child, i.parent, i.position
  from {schema}.edges o join {schema}.edges i on i.child = o.parent and i.tenant = o.tenant and i.kind = 1
  where o.child = any ($2::uuid[]) and o.tenant = $1 and o.kind = 2
) e
cross join lateral (
  select node, state, result from {schema}.live_jobs where tenant = $1 and id = e.parent
  union all
  select node, state, result from {schema}.ended_jobs where tenant = $1 and id = e.parent
  limit 1
) j
order by e.position
