-- The joins behind a job that wait for nobody any more.
-- Parameters: 1 tenant, 2 parent.
select child from edges
where tenant = ?1 and parent = ?2 and kind = 1
  and not exists (select 1 from edges as other where other.tenant = ?1 and other.child = edges.child and other.met = 0)
