-- A parent that has completed before will not be looked at again, so its edge is met from the start.
-- Parameters: 1 tenant, 2 parent, 3 child, 4 position.
insert into edges (tenant, parent, child, position, met)
values (?1, ?2, ?3, ?4, exists (select 1 from jobs where tenant = ?1 and id = ?2 and state = 'completed'))
on conflict do nothing
