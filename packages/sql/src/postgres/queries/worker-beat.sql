-- Of a worker that is known. What another instance was told is not for this one, and stays.
-- Parameters: 1 tenant, 2 id, 3 active jobs, 4 now, 5 instance or null.
update {schema}.workers set active_jobs = $3, last_seen_at = $4, instance = coalesce($5, instance)
where tenant = $1 and id = $2
returning case when directed is not distinct from instance then directive else 'running' end
