-- Whole jobs of one tenant that run in bundles, by id; the ids come in order. As in open_bundles_v1, by hashes.
create function {schema}.get_bundled_v1(p_tenant text, p_id uuid[]) returns setof {schema}.live_jobs
language plpgsql stable
set enable_seqscan = off set enable_hashjoin = on set enable_nestloop = off set enable_mergejoin = off set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  -- They tell which days the bodies are of.
  least_id uuid := p_id[1];
  greatest_id uuid := p_id[cardinality(p_id)];
  claims text[] := array(
    select b.claim_id from {schema}.bundles b
    where b.tenant = p_tenant and b.first_id <= greatest_id and b.last_id >= least_id
      and exists (select 1 from unnest(b.ids) i join unnest(p_id) x on x = i)
  );
begin
  if claims <> '{}' then
    return query
    select j.* from {schema}.bundled_jobs j
    where j.tenant = p_tenant and j.claim_id = any (claims) and j.id = any (p_id)
      and j.id >= least_id and j.id <= greatest_id;
  end if;
end
$$;

-- Whole jobs by id, in no order. Those that run in bundles are looked for last, and only where others are missing.
create function {schema}.get_v1(p_tenant text[], p_id uuid[]) returns setof {schema}.live_jobs
language plpgsql stable
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  n int;
  missing int := cardinality(p_id);
begin
  return query
  select j.* from unnest(p_tenant, p_id) as k (tenant, id)
  cross join lateral (select * from {schema}.live_jobs v where v.tenant = k.tenant and v.id = k.id limit 1) j;
  get diagnostics n = row_count;
  missing := missing - n;
  return query
  select j.* from unnest(p_tenant, p_id) as k (tenant, id)
  cross join lateral (select * from {schema}.ended_jobs v where v.tenant = k.tenant and v.id = k.id limit 1) j;
  get diagnostics n = row_count;
  if missing > n then
    return query
    select j.* from (
      select k.tenant, array_agg(k.id order by k.id) as ids from unnest(p_tenant, p_id) as k (tenant, id) group by 1
    ) k
    cross join lateral {schema}.get_bundled_v1(k.tenant, k.ids) j;
  end if;
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
