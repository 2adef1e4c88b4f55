-- How many wait for a slot, but no more than asked.
-- Parameters: 1 tenant, 2 key, 3 at most.
select count(*) from (
  select 1 from jobs
  where tenant = ?1 and limit_key = ?2 and state = 'available' and rank is null and limit_key is not null
  limit ?3
)
