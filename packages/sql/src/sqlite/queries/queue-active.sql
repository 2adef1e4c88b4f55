-- The runs under way in a queue.
-- Parameters: 1 tenant, 2 name.
select count(*) from jobs where tenant = ?1 and queue = ?2 and state = 'active'
