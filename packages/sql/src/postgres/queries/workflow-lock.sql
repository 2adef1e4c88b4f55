-- The state of a workflow, which stays as it is until the transaction ends.
-- Parameters: 1 tenant, 2 id.
select state from {schema}.workflows where tenant = $1 and id = $2 for update
