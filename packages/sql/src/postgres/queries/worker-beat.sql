-- Of a worker that is known.
-- Parameters: 1 tenant, 2 id, 3 active jobs, 4 now.
update {schema}.workers set active_jobs = $3, last_seen_at = $4 where tenant = $1 and id = $2 returning directive
