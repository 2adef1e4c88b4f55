-- The jobs that get the next free slots.
-- Parameters: 1 tenant, 2 key, 3 how many at most; below zero: all.
select * from jobs
where tenant = ?1 and limit_key = ?2 and state = 'available' and rank is null and limit_key is not null
order by priority desc, seq
limit ?3
