-- The first beat of a worker. Answers nothing where another one was faster.
-- Parameters: 1 tenant, 2 id, 3 active jobs, 4 now, 5 instance or null.
insert into {schema}.workers (tenant, id, active_jobs, first_seen_at, last_seen_at, directive, instance)
values ($1, $2, $3, $4, $4, 'running', $5)
on conflict (tenant, id) do nothing
returning directive
