--! compatible with 23
-- How many jobs of a tenant may be active at once, in all its queues together. The functions that claim are replaced under
-- their names, because a process of the version before must obey such a limit too.
create table {schema}.tenant_limits (
  tenant text primary key,
  concurrency int not null
);

-- How many more jobs of a tenant may start; locks its limit, so that claims of the tenant follow each other. Nothing is given
-- out before the claim, so its runs are the rows that are active.
create function {schema}.tenant_room_v1(p_tenant text) returns int
language plpgsql
set enable_seqscan = off set jit = off
as $$
declare
  allowed int;
  bundle {schema}.bundles;
begin
  select concurrency into allowed from {schema}.tenant_limits where tenant = p_tenant for update;
  if allowed is null then
    return 2147483647;
  end if;
  -- Whoever counts runs counts rows. While there is a limit, claims make no bundles.
  for bundle in
    select * from {schema}.bundles b where b.tenant = p_tenant order by b.claim_id, b.queue for update
  loop
    perform {schema}.open_bundle_v1(bundle);
  end loop;
  return greatest(0, allowed - (select count(*) from {schema}.jobs_live where state = 4 and tenant = p_tenant));
end
$$;

-- Runs have ended: where the queue has a limit, somebody else may start; where the tenant has one, anybody of the tenant.
create or replace function {schema}.tell_room_v1(p_tenant text, p_queues text[]) returns void
language plpgsql
set enable_seqscan = off
as $$
begin
  perform pg_notify({channel}, json_build_array(q.name)::text) from {schema}.queues q
  where q.tenant = p_tenant and q.name = any (p_queues) and (q.concurrency is not null or q.rate_limit is not null);
  if exists (select 1 from {schema}.tenant_limits t where t.tenant = p_tenant) and p_queues <> '{}' then
    -- One probe per queue: a join could read all jobs that are ready.
    perform pg_notify({channel}, json_build_array(q.name)::text) from {schema}.queues q
    where q.tenant = p_tenant and (
      select 1 from {schema}.jobs_live l where l.tenant = p_tenant and l.queue = q.name and l.ready limit 1
    ) is not null;
  end if;
end
$$;

-- claim_v1 with the limit of the tenant; see 0006_claim.sql.
create or replace function {schema}.claim_v1(
  p_tenant text, p_queues text[], p_floors bigint[], p_claims text[], p_workers text[], p_limits int[],
  p_leases bigint[], p_bundle_from int, p_now bigint
) returns text
language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  wanted int[] := p_limits;
  total int := 0;
  narrow text[];
  gate record;
  room int;
  is_limited boolean;
  is_tenant_limited boolean;
  is_any_limited boolean := false;
  -- Of the last queue that gave something.
  is_told boolean;
  found uuid[];
  plain boolean[];
  ids uuid[] := '{}';
  are_plain boolean[] := '{}';
  n int;
  q int;
  had int;
  given int := 0;
  bundled uuid[];
  answer text[] := '{}';
  whole text;
begin
  if cardinality(p_claims) = 1 then
    perform pg_advisory_xact_lock(hashtextextended('{schema}:' || p_tenant || ':' || p_claims[1], 7));
  else
    perform pg_advisory_xact_lock(h) from (
      select hashtextextended('{schema}:' || p_tenant || ':' || c, 7) as h from unnest(p_claims) c order by 1
    ) x;
  end if;
  for n in 1 .. cardinality(p_claims) loop
    select k.ids into found from {schema}.claims k where k.tenant = p_tenant and k.claim_id = p_claims[n];
    if found is not null then
      wanted[n] := 0;
      answer := answer || format('[%s,%s]', n, to_json(found));
    end if;
    total := total + wanted[n];
  end loop;
  -- First of all locks that others wait for, since it is the widest.
  is_tenant_limited := exists (select 1 from {schema}.tenant_limits t where t.tenant = p_tenant);
  if is_tenant_limited then
    is_any_limited := true;
    total := least(total, {schema}.tenant_room_v1(p_tenant));
  end if;
  -- Claims that name the same queues in another order would else wait for each other.
  if cardinality(p_queues) > 1 then
    narrow := array(
      select z.name from {schema}.queues z
      where z.tenant = p_tenant and z.name = any (p_queues) and (z.concurrency is not null or z.rate_limit is not null)
    );
    if cardinality(narrow) > 1 then
      perform 1 from {schema}.queues z where z.tenant = p_tenant and z.name = any (narrow) order by z.name for update;
    end if;
  end if;

  for q in 1 .. coalesce(cardinality(p_queues), 0) loop
    exit when cardinality(ids) >= total;
    had := cardinality(ids);
    room := total - had;
    select z.paused, z.keeps, z.concurrency is not null or z.rate_limit is not null as limited into gate
    from {schema}.queues z where z.tenant = p_tenant and z.name = p_queues[q];
    continue when gate.paused;
    is_limited := coalesce(gate.limited, false);
    if is_limited then
      is_any_limited := true;
      room := least(room, {schema}.queue_room_v1(p_tenant, p_queues[q], p_now));
      continue when room <= 0;
    end if;
    select coalesce(array_agg(p.id), '{}'), coalesce(array_agg(p.is_plain), '{}') into found, plain from (
      select l.id, l.version = 1 and l.run = 0 and l.attempt = 0 and num_nonnulls(
        l.limit_key, l.workflow_id, l.visibility_ms, l.scheduled_at, l.expires_at) = 0 as is_plain
      from {schema}.jobs_live l
      where l.tenant = p_tenant and l.queue = p_queues[q] and l.ready and l.place >= coalesce(p_floors[q], 0)
        and (l.expires_at is null or l.expires_at > p_now)
      order by l.place limit room for update skip locked
    ) p;
    if p_floors[q] is not null and cardinality(found) < room then
      ids := ids || array(
        select l.id from {schema}.jobs_live l
        where l.tenant = p_tenant and l.queue = p_queues[q] and l.ready and l.place < p_floors[q]
          and (l.expires_at is null or l.expires_at > p_now)
        order by l.place limit room - cardinality(found) for update skip locked
      );
      are_plain := are_plain || array_fill(false, array[cardinality(ids) - cardinality(are_plain)]);
    end if;
    ids := ids || found;
    are_plain := are_plain || plain;
    if cardinality(ids) > had then
      is_told := coalesce(gate.keeps, true);
    end if;
    if is_limited then
      perform {schema}.queue_started_v1(p_tenant, p_queues[q], cardinality(ids) - had, p_now);
    end if;
  end loop;

  for n in 1 .. cardinality(p_claims) loop
    exit when given >= cardinality(ids);
    continue when wanted[n] = 0;
    found := ids[given + 1 : given + wanted[n]];
    insert into {schema}.claims (tenant, claim_id, at, ids) values (p_tenant, p_claims[n], p_now, found);
    bundled := '{}';
    if not is_any_limited and cardinality(found) >= p_bundle_from then
      bundled := array(
        select x.id from unnest(found, are_plain[given + 1 : given + wanted[n]]) as x (id, is_plain) where x.is_plain
      );
    end if;
    if bundled <> '{}' then
      answer := answer || {schema}.start_bundled_v1(
        p_tenant, bundled, n, p_claims[n], p_workers[n], p_leases[n], p_now);
      found := case when cardinality(bundled) = cardinality(found) then '{}' else array(
        select x from unnest(found) x where x <> all (bundled)
      ) end;
    end if;
    if cardinality(ids) = 1 and found <> '{}' then
      answer := answer || {schema}.start_one_v1(
        p_tenant, found[1], n, p_claims[n], p_workers[n], p_leases[n], is_told, p_now);
    elsif found <> '{}' then
      answer := answer || {schema}.start_v1(p_tenant, found, n, p_claims[n], p_workers[n], p_leases[n], p_now);
    end if;
    given := given + wanted[n];
  end loop;
  if is_any_limited then
    answer := answer || '0'::text;
  end if;
  whole := '[' || array_to_string(answer, ',') || ']';
  -- Four times as much could not be read by a client, and eight times as much not even be made here.
  if cardinality(ids) > 1 and octet_length(whole) > 134217728 then
    raise program_limit_exceeded using message = 'These jobs are too large to be claimed together.';
  end if;
  return whole;
end
$$;

-- claim_one_v1, which leaves tenants with a limit to claim_v1.
create or replace function {schema}.claim_one_v1(
  p_tenant text, p_queue text, p_claim_id text, p_worker_id text, p_limit int, p_lease_ms bigint, p_bundle_from int,
  p_now bigint
) returns text
language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  is_narrow boolean;
  is_told boolean;
  picked uuid[];
begin
  -- An expression, which is cheaper than a statement. What comes after it sees what whoever had the lock has done.
  if pg_advisory_xact_lock(hashtextextended('{schema}:' || p_tenant || ':' || p_claim_id, 7)) is null then
    return null;
  end if;
  -- The tenant may have a limit where the queue has no row.
  select z.paused or z.concurrency is not null or z.rate_limit is not null or t.tenant is not null, z.keeps
  into is_narrow, is_told
  from (values (p_tenant)) as x (tenant)
  left join {schema}.queues z on z.tenant = x.tenant and z.name = p_queue
  left join {schema}.tenant_limits t on t.tenant = x.tenant;
  if is_narrow is not true then
    picked := array(
      select l.id from {schema}.jobs_live l
      where l.tenant = p_tenant and l.queue = p_queue and l.ready and (l.expires_at is null or l.expires_at > p_now)
      order by l.place limit least(p_limit, 2) for update skip locked
    );
  end if;
  if cardinality(picked) = 1 then
    insert into {schema}.claims (tenant, claim_id, at, ids) values (p_tenant, p_claim_id, p_now, picked)
    on conflict do nothing;
    if found then
      return '[' || {schema}.start_one_v1(
        p_tenant, picked[1], 1, p_claim_id, p_worker_id, p_lease_ms, coalesce(is_told, true), p_now) || ']';
    end if;
  end if;
  return {schema}.claim_v1(
    p_tenant, array[p_queue], null, array[p_claim_id], array[p_worker_id], array[p_limit], array[p_lease_ms],
    p_bundle_from, p_now);
end
$$;

-- claim_by_id_v1 with the limit of the tenant.
create or replace function {schema}.claim_by_id_v1(
  p_tenant text, p_ids uuid[], p_claim_id text, p_worker_id text, p_lease_ms bigint, p_now bigint
) returns table (n int, status text, job {schema}.live_jobs)
language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  i int;
  l {schema}.jobs_live;
  gate record;
  answer text;
  is_tenant_limited boolean := exists (select 1 from {schema}.tenant_limits t where t.tenant = p_tenant);
  tenant_room int := 2147483647;
begin
  -- The tenant's limit first, then queues with a limit and in order, rows after them and in order, as everywhere.
  if is_tenant_limited then
    tenant_room := {schema}.tenant_room_v1(p_tenant);
  end if;
  perform {schema}.queue_room_v1(p_tenant, q.name, p_now) from (
    select distinct z.name from unnest(p_ids) x
    cross join lateral (select queue from {schema}.jobs_live where tenant = p_tenant and id = x limit 1) y
    cross join lateral (
      select name from {schema}.queues
      where tenant = p_tenant and name = y.queue and (concurrency is not null or rate_limit is not null)
    ) z
    order by 1
  ) q;
  perform {schema}.open_bundles_v1(p_tenant, p_ids);
  perform 1 from (select x from unnest(p_ids) x order by 1) x
  cross join lateral (select 1 from {schema}.jobs_live where tenant = p_tenant and id = x.x for update) y;

  for i in 1 .. cardinality(p_ids) loop
    select * into l from {schema}.jobs_live where tenant = p_tenant and id = p_ids[i];
    if not found then
      -- A claim that we waited for may have put it into a bundle.
      answer := case
        when exists (select 1 from {schema}.job_ends where tenant = p_tenant and id = p_ids[i]) then 'finished'
        when exists (select 1 from {schema}.bundled_jobs where tenant = p_tenant and id = p_ids[i]) then 'held'
      end;
      if answer is not null then
        return query select i, answer, null::{schema}.live_jobs;
      end if;
      continue;
    end if;
    select z.paused, z.keeps, z.concurrency is not null or z.rate_limit is not null as limited into gate
    from {schema}.queues z where z.tenant = p_tenant and z.name = l.queue;
    answer := case
      when l.state in (5, 7, 8) then 'finished'
      when l.state = 4 and l.claim_id = p_claim_id then null
      when l.state = 4 then 'held'
      when l.state <> 2 then 'not_due'
      when not l.ready then 'parked'
      when gate.paused then 'paused'
      when gate.limited and {schema}.queue_room_v1(p_tenant, l.queue, p_now) = 0 then 'parked'
      when tenant_room <= 0 then 'parked'
      when l.expires_at <= p_now then 'not_due'
    end;
    if answer is not null then
      return query select i, answer, null::{schema}.live_jobs;
    elsif l.state = 4 then
      return query select i, null::text, v from {schema}.live_jobs v where v.tenant = p_tenant and v.id = p_ids[i];
    else
      if gate.limited then
        perform {schema}.queue_started_v1(p_tenant, l.queue, 1, p_now);
      end if;
      insert into {schema}.claims (tenant, claim_id, at, ids) values (p_tenant, p_claim_id, p_now, p_ids[i : i])
      on conflict (tenant, claim_id) do update set ids = claims.ids || excluded.ids;
      perform {schema}.start_one_v1(
        p_tenant, p_ids[i], 1, p_claim_id, p_worker_id, p_lease_ms, coalesce(gate.keeps, true), p_now);
      tenant_room := tenant_room - 1;
      return query select i, null::text, v from {schema}.live_jobs v where v.tenant = p_tenant and v.id = p_ids[i];
    end if;
  end loop;
end
$$;
