-- An edge goes with its child only: a child must not start because a parent that failed was forgotten.
-- Parameters: 1 tenant, 2 id of a job that is no more.
delete from edges indexed by edges_child where tenant = ?1 and child = ?2 returning parent, kind
