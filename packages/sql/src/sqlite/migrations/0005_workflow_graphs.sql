-- The names of the nodes of each workflow, each once. The rows go with their workflow. Nodes that were added twice before
-- this table came stay as they are.
create table workflow_nodes (
  tenant text not null,
  workflow_id text not null,
  node text not null,
  primary key (tenant, workflow_id, node)
) strict, without rowid;

insert or ignore into workflow_nodes (tenant, workflow_id, node)
select jobs.tenant, jobs.workflow_id, jobs.node
from jobs join workflows on workflows.tenant = jobs.tenant and workflows.id = jobs.workflow_id
where jobs.workflow_id is not null and jobs.node is not null;
