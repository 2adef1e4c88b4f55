-- Parameters: 1 tenant, 2 id of a workflow that is no more.
delete from workflow_nodes where tenant = ?1 and workflow_id = ?2
