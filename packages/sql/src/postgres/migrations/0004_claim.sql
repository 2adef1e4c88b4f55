-- How many more jobs the limit of a queue lets start, as `freeSlots` of limit.ts says; locks the queue, so that claims
-- of it follow each other. A queue gives nothing out before the claim, so its runs are the rows that are active.
create function {schema}.queue_room_v1(p_tenant text, p_queue text, p_now bigint) returns int
language plpgsql
set enable_seqscan = off set jit = off
as $$
declare
  rule record;
  room int := 2147483647;
begin
  select concurrency, rate_limit, rate_period_ms into rule
  from {schema}.queues where tenant = p_tenant and name = p_queue for update;
  if rule.concurrency is not null then
    room := rule.concurrency - (
      select count(*) from {schema}.jobs_live where state = 4 and tenant = p_tenant and queue = p_queue
    );
  end if;
  if rule.rate_limit is not null then
    delete from {schema}.queue_starts
    where tenant = p_tenant and queue = p_queue and slice < p_now * 10 / rule.rate_period_ms - 10;
    room := least(room, rule.rate_limit - (
      select coalesce(sum(starts), 0) from {schema}.queue_starts where tenant = p_tenant and queue = p_queue
    ));
  end if;
  return greatest(room, 0);
end
$$;

-- Counts starts of a queue with a rate.
create function {schema}.queue_started_v1(p_tenant text, p_queue text, p_starts int, p_now bigint) returns void
language sql
as $$
  insert into {schema}.queue_starts (tenant, queue, slice, starts)
  select tenant, name, p_now * 10 / rate_period_ms, p_starts
  from {schema}.queues where tenant = p_tenant and name = p_queue and rate_limit is not null and p_starts > 0
  on conflict (tenant, queue, slice) do update set starts = queue_starts.starts + excluded.starts
$$;

-- Runs have ended: where the queue has a limit, somebody else may start.
create function {schema}.tell_room_v1(p_tenant text, p_queues text[]) returns void
language plpgsql
set enable_seqscan = off
as $$
begin
  perform pg_notify({channel}, json_build_array(q.name)::text) from {schema}.queues q
  where q.tenant = p_tenant and q.name = any (p_queues) and (q.concurrency is not null or q.rate_limit is not null);
end
$$;

-- Begins runs of locked jobs by one claim and writes what tells of it; answers whole jobs as rows.ts reads them.
create function {schema}.start_v1(
  p_tenant text, p_ids uuid[], p_claim_id text, p_worker_id text, p_lease_ms bigint, p_now bigint
) returns setof {schema}.live_jobs
language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  by_worker json := json_build_object('worker_id', p_worker_id);
  forgetful text[] := {schema}.forgetful_v1(p_tenant);
begin
  return query
  with u as (
    update {schema}.jobs_live l set
      state = 4, ready = false, version = l.version + 1, run = l.run + 1, attempt = l.attempt + 1,
      claim_id = p_claim_id, worker_id = p_worker_id, outcome = null,
      lease_ms = coalesce(l.visibility_ms, p_lease_ms), lease_until = p_now + coalesce(l.visibility_ms, p_lease_ms),
      timeout_at = p_now + l.timeout_ms, started_at = p_now,
      next_at = least(p_now + coalesce(l.visibility_ms, p_lease_ms), p_now + l.timeout_ms)
    where l.tenant = p_tenant and l.id = any (p_ids)
    returning l.*
  ),
  r as materialized (
    -- One by one: as a join it might begin with all bodies.
    select u.*, coalesce(u.type, b.type) as b_type, coalesce(u.priority, b.priority) as b_priority,
      coalesce(u.max_attempts, b.max_attempts) as b_max_attempts, coalesce(u.created_at, b.created_at) as b_created_at,
      coalesce(u.idempotency_key, b.idempotency_key) as b_idempotency_key,
      coalesce(u.unique_key, b.unique_key) as b_unique_key, coalesce(u.node, b.node) as b_node,
      coalesce(u.spec, b.spec) as b_spec
    from u left join lateral (
      select * from {schema}.job_bodies b where u.spec is null and b.tenant = p_tenant and b.id = u.id limit 1
    ) b on true
  ),
  k as (
    insert into {schema}.claims (tenant, claim_id, at, ids)
    select p_tenant, p_claim_id, p_now, array_agg(r.id) from r having count(*) > 0
    on conflict (tenant, claim_id) do update set ids = claims.ids || excluded.ids
  ),
  s as (
    insert into {schema}.event_segments (at, count, body)
    select p_now, sum(g.told), '[' || string_agg(json_build_array(
      '*', g.ids, 'job.started', g.type, g.queue, g.run, g.attempt, g.version, p_now, by_worker, 'server', p_tenant
    )::text, ',') || ']'
    from (
      select r.b_type as type, r.queue, r.run, r.attempt, r.version, count(*) as told, array_agg(r.id) as ids
      from r where forgetful is null or r.queue <> all (forgetful)
      group by r.b_type, r.queue, r.run, r.attempt, r.version
    ) g
    having count(*) > 0
  ),
  x as (
    insert into {schema}.limit_starts (tenant, key, at, starts)
    select p_tenant, r.limit_key, p_now, count(*) from r where r.limit_key is not null group by r.limit_key
  )
  select
    r.tenant, r.id, r.b_type, r.queue, r.b_priority, r.place % 10000000000000000, r.state, r.next_at, r.version, r.run,
    r.attempt, r.b_max_attempts, r.claim_id, r.worker_id, r.lease_ms, r.lease_until, r.outcome, r.timeout_ms,
    r.timeout_at, r.visibility_ms, r.b_created_at, r.enqueued_at, r.scheduled_at, r.started_at, r.finished_at,
    r.expires_at, r.retry_delay_ms, r.errors, r.result, r.dead, r.b_idempotency_key, r.b_unique_key, r.limit_key,
    r.holds_slot, r.workflow_id, r.b_node, r.advance_pending, r.b_spec, r.error_type, r.error_code, r.ready, r.place
  from r;
end
$$;

-- Claims for several requests that name the same queues, in the order of the requests; a job tells by its claim id
-- whose it is. A request whose claim id was
-- used before answers what it still holds; one that is under way elsewhere is waited for. `p_floors`: the places below
-- which nothing is known to be ready, or null; a queue that has too little above its floor is read from its start.
create function {schema}.claim_v1(
  p_tenant text, p_queues text[], p_floors bigint[], p_claims text[], p_workers text[], p_limits int[],
  p_leases bigint[], p_now bigint
) returns setof {schema}.live_jobs
language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  wanted int[] := p_limits;
  total int;
  gate record;
  room int;
  is_limited boolean;
  found uuid[];
  ids uuid[] := '{}';
  n int;
  q int;
  given int := 0;
begin
  perform pg_advisory_xact_lock(h) from (
    select hashtextextended('{schema}:' || p_tenant || ':' || c, 7) as h from unnest(p_claims) c order by 1
  ) x;
  for n in 1 .. cardinality(p_claims) loop
    if exists (select 1 from {schema}.claims k where k.tenant = p_tenant and k.claim_id = p_claims[n]) then
      wanted[n] := 0;
      return query
      select j.* from {schema}.claims k cross join lateral unnest(k.ids) i
      cross join lateral (select * from {schema}.live_jobs v where v.tenant = p_tenant and v.id = i limit 1) j
      where k.tenant = p_tenant and k.claim_id = p_claims[n] and j.claim_id = p_claims[n] and j.state = 4
      order by j.place;
    end if;
  end loop;
  select coalesce(sum(w), 0) into total from unnest(wanted) w;

  for q in 1 .. coalesce(cardinality(p_queues), 0) loop
    exit when cardinality(ids) >= total;
    room := total - cardinality(ids);
    select z.paused, z.concurrency is not null or z.rate_limit is not null as limited into gate
    from {schema}.queues z where z.tenant = p_tenant and z.name = p_queues[q];
    continue when gate.paused;
    is_limited := coalesce(gate.limited, false);
    if is_limited then
      room := least(room, {schema}.queue_room_v1(p_tenant, p_queues[q], p_now));
      continue when room <= 0;
    end if;
    found := array(
      select l.id from {schema}.jobs_live l
      where l.tenant = p_tenant and l.queue = p_queues[q] and l.ready and l.place >= coalesce(p_floors[q], 0)
        and (l.expires_at is null or l.expires_at > p_now)
      order by l.place limit room for update skip locked
    );
    if p_floors[q] is not null and cardinality(found) < room then
      found := array(
        select l.id from {schema}.jobs_live l
        where l.tenant = p_tenant and l.queue = p_queues[q] and l.ready and l.place < p_floors[q]
          and (l.expires_at is null or l.expires_at > p_now)
        order by l.place limit room - cardinality(found) for update skip locked
      ) || found;
    end if;
    if is_limited then
      perform {schema}.queue_started_v1(p_tenant, p_queues[q], cardinality(found), p_now);
    end if;
    ids := ids || found;
  end loop;

  for n in 1 .. cardinality(p_claims) loop
    exit when given >= cardinality(ids);
    continue when wanted[n] = 0;
    return query
    select j.* from {schema}.start_v1(
      p_tenant, ids[given + 1 : given + wanted[n]], p_claims[n], p_workers[n], p_leases[n], p_now
    ) j;
    given := given + wanted[n];
  end loop;
end
$$;

-- Claims given jobs one after another. Answers for each that is known its number (from 1) and either why it is not given
-- or the job. A job under another lock is about to change, so it is waited for.
create function {schema}.claim_by_id_v1(
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
begin
  -- Queues with a limit first and in order, rows after them and in order, as everywhere.
  perform {schema}.queue_room_v1(p_tenant, q.name, p_now) from (
    select distinct z.name from unnest(p_ids) x
    cross join lateral (select queue from {schema}.jobs_live where tenant = p_tenant and id = x limit 1) y
    cross join lateral (
      select name from {schema}.queues
      where tenant = p_tenant and name = y.queue and (concurrency is not null or rate_limit is not null)
    ) z
    order by 1
  ) q;
  perform 1 from (select x from unnest(p_ids) x order by 1) x
  cross join lateral (select 1 from {schema}.jobs_live where tenant = p_tenant and id = x.x for update) y;

  for i in 1 .. cardinality(p_ids) loop
    select * into l from {schema}.jobs_live where tenant = p_tenant and id = p_ids[i];
    if not found then
      if exists (select 1 from {schema}.job_ends where tenant = p_tenant and id = p_ids[i]) then
        return query select i, 'finished', null::{schema}.live_jobs;
      end if;
      continue;
    end if;
    select z.paused, z.concurrency is not null or z.rate_limit is not null as limited into gate
    from {schema}.queues z where z.tenant = p_tenant and z.name = l.queue;
    answer := case
      when l.state in (5, 7, 8) then 'finished'
      when l.state = 4 and l.claim_id = p_claim_id then null
      when l.state = 4 then 'held'
      when l.state <> 2 then 'not_due'
      when not l.ready then 'parked'
      when gate.paused then 'paused'
      when gate.limited and {schema}.queue_room_v1(p_tenant, l.queue, p_now) = 0 then 'parked'
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
      return query
      select i, null::text, v
      from {schema}.start_v1(p_tenant, array[p_ids[i]], p_claim_id, p_worker_id, p_lease_ms, p_now) v;
    end if;
  end loop;
end
$$;
