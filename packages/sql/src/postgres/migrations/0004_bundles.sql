-- Gives the runs of a locked bundle that have not ended rows of their own, as start_v1 would have written them; answers
-- how many these are.
create function {schema}.open_bundle_v1(p_bundle {schema}.bundles) returns int
language plpgsql
set enable_seqscan = off set enable_hashjoin = on set enable_nestloop = off set enable_mergejoin = off set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  opened int;
begin
  insert into {schema}.jobs_live (
    tenant, id, queue, place, next_at, version, run, attempt, state, ready, holds_slot, advance_pending, dead, claim_id,
    worker_id, lease_ms, lease_until, timeout_ms, timeout_at, enqueued_at, started_at
  )
  select
    p_bundle.tenant, x.id, p_bundle.queue, x.place, p_bundle.started_at + least(p_bundle.lease_ms, b.timeout_ms), 2, 1, 1,
    4, false, false, false, false, p_bundle.claim_id, p_bundle.worker_id, p_bundle.lease_ms,
    p_bundle.started_at + p_bundle.lease_ms, b.timeout_ms, p_bundle.started_at + b.timeout_ms, x.enqueued_at,
    p_bundle.started_at
  from unnest(p_bundle.ids, p_bundle.places, p_bundle.enqueued_at) as x (id, place, enqueued_at)
  join {schema}.job_bodies b on b.tenant = p_bundle.tenant and b.id = x.id and b.id = any (p_bundle.ids)
    and b.id >= p_bundle.first_id and b.id <= p_bundle.last_id
  where x.id not in (
    select unnest(e.ids) from {schema}.bundle_ends e
    where e.tenant = p_bundle.tenant and e.claim_id = p_bundle.claim_id and e.queue = p_bundle.queue
  )
  order by x.id;
  get diagnostics opened = row_count;
  delete from {schema}.bundle_ends
  where tenant = p_bundle.tenant and claim_id = p_bundle.claim_id and queue = p_bundle.queue;
  delete from {schema}.bundles
  where tenant = p_bundle.tenant and claim_id = p_bundle.claim_id and queue = p_bundle.queue;
  return opened;
end
$$;

-- Opens the bundles that jobs of one tenant are in. Whoever is about to lock rows of jobs that may run calls this first.
-- Bundles are joined with the ids by hashes: else each id would be looked for in each bundle.
create function {schema}.open_bundles_v1(p_tenant text, p_ids uuid[]) returns void
language plpgsql
set enable_seqscan = off set enable_hashjoin = on set enable_nestloop = off set enable_mergejoin = off set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  rowless uuid[];
  bundle {schema}.bundles;
begin
  if not exists (select 1 from {schema}.bundles where tenant = p_tenant) then
    return;
  end if;
  rowless := array(
    select x from unnest(p_ids) x
    where (select 1 from {schema}.jobs_live l where l.tenant = p_tenant and l.id = x limit 1) is null
    order by x
  );
  if rowless = '{}' then
    return;
  end if;
  -- In the order of their keys, as everybody who locks several.
  for bundle in
    select * from {schema}.bundles b
    where b.tenant = p_tenant and b.first_id <= rowless[cardinality(rowless)] and b.last_id >= rowless[1]
      and exists (select 1 from unnest(b.ids) i join unnest(rowless) x on x = i)
    order by b.claim_id, b.queue for update
  loop
    perform {schema}.open_bundle_v1(bundle);
  end loop;
end
$$;

-- Opens the bundles of a queue: whoever counts its runs counts rows.
create function {schema}.open_bundles_of_queue_v1(p_tenant text, p_queue text) returns void
language plpgsql
as $$
declare
  bundle {schema}.bundles;
begin
  for bundle in
    select * from {schema}.bundles b
    where b.tenant = p_tenant and b.queue = p_queue order by b.claim_id, b.queue for update
  loop
    perform {schema}.open_bundle_v1(bundle);
  end loop;
end
$$;

-- Opens the bundles whose leases are over, until so many runs are found; what another sweep is at is left to it.
create function {schema}.open_due_bundles_v1(p_now bigint, p_limit int) returns void
language plpgsql
set enable_seqscan = off
as $$
declare
  bundle {schema}.bundles;
  opened int := 0;
begin
  for bundle in
    select * from {schema}.bundles b where b.next_at <= p_now order by b.next_at for update skip locked
  loop
    opened := opened + {schema}.open_bundle_v1(bundle);
    exit when opened >= p_limit;
  end loop;
end
$$;
