-- The first beat of a worker.
-- Parameters: 1 tenant, 2 id, 3 active jobs, 4 now, 5 instance or null.
insert into workers (tenant, id, active_jobs, first_seen_at, last_seen_at, directive, instance)
values (?1, ?2, ?3, ?4, ?4, 'running', ?5)
