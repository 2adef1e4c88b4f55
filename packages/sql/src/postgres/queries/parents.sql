-- What the parents of jobs and joins came to, in the order of their edges. A job behind a join has the join alone, of which
-- nothing is told here: many jobs may stand behind it.
-- Parameters: 1 tenant, 2 children.
select e.child, e.parent, e.kind, j.node, j.state, j.outcome, j.finished_at, j.result
from {schema}.edges e
left join lateral (
  select node, state, outcome, finished_at, result from {schema}.live_jobs where tenant = $1 and id = e.parent
  union all
  select node, state, outcome, finished_at, result from {schema}.ended_jobs where tenant = $1 and id = e.parent
  limit 1
) j on e.kind <> 2
where e.child = any ($2::uuid[]) and e.tenant = $1
order by e.position
