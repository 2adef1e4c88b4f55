-- For the instance that was seen last.
-- Parameters: 1 tenant, 2 id, 3 directive.
update {schema}.workers set directive = $3, directed = instance where tenant = $1 and id = $2
returning tenant, id, active_jobs, first_seen_at, last_seen_at, directive
