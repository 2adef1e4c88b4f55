-- Parameters: 1 tenant, 2 id, 3 active jobs, 4 now.
insert into {schema}.workers (tenant, id, active_jobs, first_seen_at, last_seen_at, directive)
values ($1, $2, $3, $4, $4, 'running')
on conflict (tenant, id) do update set active_jobs = excluded.active_jobs, last_seen_at = excluded.last_seen_at
returning directive
