-- The names of the nodes of each workflow, each once. The rows go with their workflow. Nodes that were added twice before
-- this table came stay as they are. Whoever adds nodes locks the row of the workflow first.
create table {schema}.workflow_nodes (
  tenant text not null,
  workflow_id text collate "C" not null,
  node text collate "C" not null,
  primary key (tenant, workflow_id, node)
);

insert into {schema}.workflow_nodes (tenant, workflow_id, node)
select b.tenant, b.workflow_id, b.node
from {schema}.workflows w join {schema}.job_bodies b on b.tenant = w.tenant and b.workflow_id = w.id
where b.workflow_id is not null and b.node is not null
on conflict do nothing;
