-- The children of a job that have not begun.
-- Parameters: 1 tenant, 2 parent.
select jobs.* from edges cross join jobs on jobs.tenant = edges.tenant and jobs.id = edges.child
where edges.tenant = ?1 and edges.parent = ?2 and jobs.state = 'pending'
