-- What the parents of a job came to, in the order of its edges.
-- Parameters: 1 tenant, 2 child.
select jobs.id, jobs.node, jobs.state, jobs.outcome, jobs.finished_at, jobs.result
from edges cross join jobs on jobs.tenant = edges.tenant and jobs.id = edges.parent
where edges.tenant = ?1 and edges.child = ?2
order by edges.position
