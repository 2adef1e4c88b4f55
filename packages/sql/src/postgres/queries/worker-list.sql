-- Parameters: 1 tenant.
select tenant, id, active_jobs, first_seen_at, last_seen_at,
  case when directed is not distinct from instance then directive else 'running' end
from {schema}.workers where tenant = $1 order by id
