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

-- 0: between two jobs. 1: into a join, which is not a job but a point where edges meet. 2: out of one; such an edge counts as
-- met, and its child waits until the edges into the join are.
alter table edges add column kind integer not null default 0;
