-- Parameters: 1 tenant.
select tenant, id, active_jobs, first_seen_at, last_seen_at, directive from {schema}.workers where tenant = $1 order by id
