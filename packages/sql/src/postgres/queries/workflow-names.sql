-- Parameters: 1 tenant, 2 workflow, 3 nodes.
insert into {schema}.workflow_nodes (tenant, workflow_id, node)
select $1, $2, x.node from unnest($3::text[]) as x (node)
on conflict do nothing
