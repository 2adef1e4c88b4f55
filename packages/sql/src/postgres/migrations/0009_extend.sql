-- Moves the ends of leases of one tenant, no two of one job, as the transition 'extend' does. Each speaks for a run
-- (p_run, p_claim_id), for a worker (p_worker_id) or for whoever runs it. Answers the numbers (from 1) of those that
-- took effect and the new ends.
create function {schema}.extend_v1(
  p_tenant text, p_id uuid[], p_run int[], p_claim_id text[], p_worker_id text[], p_lease_ms bigint[], p_now bigint[]
) returns table (n int, lease_until bigint)
language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  ends bigint[];
begin
  perform {schema}.open_bundles_v1(p_tenant, p_id);
  -- In the order given, which is that of the ids, and past the index of active jobs, as in finish.
  select array_agg(l.lease_until order by c.n) into ends
  from rows from (
    unnest(p_id), unnest(p_run), unnest(p_claim_id), unnest(p_worker_id), unnest(p_lease_ms), unnest(p_now)
  ) with ordinality as c (id, run, claim_id, worker_id, lease_ms, now, n)
  left join lateral (
    select least(
      greatest(c.now + coalesce(c.lease_ms, l.lease_ms, 0), coalesce(l.lease_until, 0)), l.timeout_at
    ) as lease_until
    from {schema}.jobs_live l
    where l.tenant = p_tenant and l.id = c.id and l.state + 0 = 4
      and (c.run is null or (l.run = c.run and l.claim_id = c.claim_id))
      and (c.worker_id is null or l.worker_id = c.worker_id)
    for update
  ) l on true;
  update {schema}.jobs_live l set
    lease_until = ends[array_position(p_id, l.id)], next_at = ends[array_position(p_id, l.id)]
  where l.tenant = p_tenant
    and l.id = any (array(select x.id from unnest(p_id, ends) as x (id, e) where x.e is not null));
  return query
  select x.n::int, x.e from unnest(ends) with ordinality as x (e, n) where x.e is not null;
end
$$;
