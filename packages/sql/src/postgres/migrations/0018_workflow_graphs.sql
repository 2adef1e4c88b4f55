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

-- 0: between two jobs. 1: into a join, which is not a job but a point where edges meet. 2: out of one; such an edge counts as
-- met, and its child waits until the edges into the join are.
alter table {schema}.edges add column kind smallint not null default 0;

-- Whether a job is a node of a workflow that runs, or that ended at this time or later.
create function {schema}.workflow_keeps_v1(p_tenant text, p_id uuid, p_before bigint) returns boolean
language sql stable
as $$
  select exists (
    select 1 from {schema}.job_bodies b join {schema}.workflows w on w.tenant = b.tenant and w.id = b.workflow_id
    where b.tenant = p_tenant and b.id = p_id and (w.finished_at is null or w.finished_at >= p_before)
  )
$$;

-- Removes the jobs that ended before a time, dead letters by a time of their own; answers how many. A node stays as long as
-- its workflow.
create function {schema}.prune_v2(p_finished_before bigint, p_dead_before bigint, p_limit int) returns int
language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
  of_tenant record;
  removed int := 0;
  joins uuid[];
begin
  for of_tenant in
    select o.tenant, array_agg(o.id) as ids from (
      select e.tenant, e.id from {schema}.job_ends e
      where e.finished_at < greatest(p_finished_before, p_dead_before)
        and e.finished_at < case when e.dead then p_dead_before else p_finished_before end
        and not {schema}.workflow_keeps_v1(
          e.tenant, e.id, case when e.dead then p_dead_before else p_finished_before end
        )
      limit p_limit
      for update skip locked
    ) o
    group by o.tenant
  loop
    delete from {schema}.job_ends where tenant = of_tenant.tenant and id = any (of_tenant.ids);
    delete from {schema}.job_bodies where tenant = of_tenant.tenant and id = any (of_tenant.ids);
    delete from {schema}.idempotency_keys where tenant = of_tenant.tenant and job_id = any (of_tenant.ids);
    delete from {schema}.unique_keys where tenant = of_tenant.tenant and job_id = any (of_tenant.ids);
    delete from {schema}.progress where tenant = of_tenant.tenant and id = any (of_tenant.ids);
    with gone as (
      delete from {schema}.edges where tenant = of_tenant.tenant and child = any (of_tenant.ids) returning parent, kind
    )
    select array_agg(distinct parent) into joins from gone where kind = 2;
    -- The edges into a join go with the last of those who waited for it.
    delete from {schema}.edges i where i.tenant = of_tenant.tenant and i.child = any (joins) and i.kind = 1
      and not exists (select 1 from {schema}.edges o where o.tenant = i.tenant and o.parent = i.child);
    removed := removed + cardinality(of_tenant.ids);
  end loop;
  return removed;
end
$$;
