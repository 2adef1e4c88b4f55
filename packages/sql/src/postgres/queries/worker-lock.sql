-- What the instance that was seen last was told.
-- Parameters: 1 tenant, 2 id.
select case when directed is not distinct from instance then directive else 'running' end
from {schema}.workers where tenant = $1 and id = $2 for no key update
