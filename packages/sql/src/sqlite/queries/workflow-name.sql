-- Takes the name of a node, or changes nothing when another node of the workflow has it.
-- Parameters: 1 tenant, 2 workflow, 3 node.
insert into workflow_nodes (tenant, workflow_id, node) values (?1, ?2, ?3) on conflict do nothing
