-- The jobs to give next. An expired one is left to the sweep.
-- Parameters: 1 tenant, 2 queue, 3 now, 4 limit.
select * from jobs
where tenant = ?1 and queue = ?2 and rank is not null and (expires_at is null or expires_at > ?3)
order by rank
limit ?4
