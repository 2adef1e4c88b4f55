-- The joins behind a job.
-- Parameters: 1 tenant, 2 parent.
select child from edges where tenant = ?1 and parent = ?2 and kind = 1
