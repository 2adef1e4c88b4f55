-- Removes a job that completed in a queue that keeps nothing. Nodes of workflows stay, since others wait for their results, and
-- so does a job that still holds its unique key.
-- Parameters: 1 tenant, 2 id.
delete from jobs where tenant = ?1 and id = ?2 and workflow_id is null and advance_pending = 0 returning unique_key
