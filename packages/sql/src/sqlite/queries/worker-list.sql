-- Parameters: 1 tenant.
select tenant, id, active_jobs, first_seen_at, last_seen_at,
  case when directed is instance then directive else 'running' end
from workers where tenant = ?1 order by id
