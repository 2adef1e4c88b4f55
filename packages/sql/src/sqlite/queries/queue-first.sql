-- When the job that is next in line became available.
-- Parameters: 1 tenant, 2 queue.
select enqueued_at from jobs where tenant = ?1 and queue = ?2 and rank is not null order by rank limit 1
