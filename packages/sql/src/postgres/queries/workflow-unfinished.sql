-- Whether a workflow still waits for a node.
-- Parameters: 1 tenant, 2 id.
select exists (
  select 1 from {schema}.jobs_live
  where tenant = $1 and workflow_id = $2 and workflow_id is not null and finished_at is null
)
