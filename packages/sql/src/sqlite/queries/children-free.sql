-- The children of a job that wait for nobody any more.
-- Parameters: 1 tenant, 2 parent.
select jobs.* from edges cross join jobs on jobs.tenant = edges.tenant and jobs.id = edges.child
where edges.tenant = ?1 and edges.parent = ?2 and jobs.state = 'pending'
  and not exists (select 1 from edges as other where other.tenant = ?1 and other.child = edges.child and other.met = 0)
