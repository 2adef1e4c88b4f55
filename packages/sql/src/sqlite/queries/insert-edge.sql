-- A parent that has completed before will not be looked at again, so its edge is met from the start; so is an edge out of a
-- join.
-- Parameters: 1 tenant, 2 parent, 3 child, 4 position, 5 kind.
insert into edges (tenant, parent, child, position, kind, met)
values (
  ?1, ?2, ?3, ?4, ?5, ?5 = 2 or exists (select 1 from jobs where tenant = ?1 and id = ?2 and state = 'completed')
)
on conflict do nothing
