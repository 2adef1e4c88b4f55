-- Removes a job that completed in a queue that keeps nothing. Nodes of workflows stay: others wait for their results.
-- Parameters: 1 tenant, 2 id.
delete from jobs where tenant = ?1 and id = ?2 and workflow_id is null returning unique_key
