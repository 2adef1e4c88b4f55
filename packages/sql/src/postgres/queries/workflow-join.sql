-- Counts further nodes of a workflow that is locked and runs.
-- Parameters: 1 tenant, 2 id, 3 nodes.
update {schema}.workflows set total = total + $3 where tenant = $1 and id = $2
