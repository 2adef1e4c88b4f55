-- Whole jobs by id, living or ended, in no order.
create function {schema}.get_v1(p_tenant text[], p_id uuid[]) returns setof {schema}.live_jobs
language plpgsql stable
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
set plan_cache_mode = force_generic_plan
as $$
begin
  return query
  select j.* from unnest(p_tenant, p_id) as k (tenant, id)
  cross join lateral (select * from {schema}.live_jobs v where v.tenant = k.tenant and v.id = k.id limit 1) j;
  return query
  select j.* from unnest(p_tenant, p_id) as k (tenant, id)
  cross join lateral (select * from {schema}.ended_jobs v where v.tenant = k.tenant and v.id = k.id limit 1) j;
end
$$;

-- Whether a job has completed.
create function {schema}.has_completed_v1(p_tenant text, p_id uuid) returns boolean
language plpgsql stable
set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
begin
  return exists (select 1 from {schema}.job_ends where tenant = p_tenant and id = p_id and state = 5)
    or exists (select 1 from {schema}.jobs_live where tenant = p_tenant and id = p_id and state = 5);
end
$$;
