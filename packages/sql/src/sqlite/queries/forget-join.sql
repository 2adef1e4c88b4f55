-- The edges into a join go with the last of those who waited for it.
-- Parameters: 1 tenant, 2 the join.
delete from edges indexed by edges_child where tenant = ?1 and child = ?2 and kind = 1
  and not exists (select 1 from edges as other where other.tenant = ?1 and other.parent = ?2)
