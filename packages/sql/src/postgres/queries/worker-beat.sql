-- Of a worker that is known. Another instance of it goes on, whatever the last one was told.
-- Parameters: 1 tenant, 2 id, 3 active jobs, 4 now, 5 instance or null.
update {schema}.workers set
  active_jobs = $3, last_seen_at = $4, instance = coalesce($5, instance),
  directive = case when $5::text is null or instance is not distinct from $5 then directive else 'running' end
where tenant = $1 and id = $2
returning directive
