-- The job that gets the next free slot.
-- Parameters: 1 tenant, 2 key.
select * from jobs
where tenant = ?1 and limit_key = ?2 and state = 'available' and rank is null and limit_key is not null
order by seq
limit 1
