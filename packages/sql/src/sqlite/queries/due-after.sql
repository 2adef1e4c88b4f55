-- When the sweep must look again, behind the rows that it was given.
-- Parameters: 1 number of rows given.
select next_at from jobs where next_at is not null order by next_at limit 1 offset ?1
