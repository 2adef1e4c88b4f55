-- Removes the jobs that ended before a time, dead letters by a time of their own; answers how many.
create function {schema}.prune_v1(p_finished_before bigint, p_dead_before bigint, p_limit int) returns int
language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
  of_tenant record;
  removed int := 0;
begin
  for of_tenant in
    select o.tenant, array_agg(o.id) as ids from (
      select e.tenant, e.id from {schema}.job_ends e
      where e.finished_at < greatest(p_finished_before, p_dead_before)
        and e.finished_at < case when e.dead then p_dead_before else p_finished_before end
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
    delete from {schema}.edges where tenant = of_tenant.tenant and child = any (of_tenant.ids);
    removed := removed + cardinality(of_tenant.ids);
  end loop;
  return removed;
end
$$;
