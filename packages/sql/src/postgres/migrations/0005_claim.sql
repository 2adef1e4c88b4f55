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
    perform {schema}.open_bundles_of_queue_v1(p_tenant, p_queue);
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

-- Jobs that one claim has started and that have much in common; what differs is a list, parted by commas, in which
-- nothing stands for null. `specs` is a list in JSON; `rest` too, with what hardly any job has, each behind its id. Few
-- wide rows cost both sides far less than many with dozens of columns. Without a type: jobs that the claim had before.
create type {schema}.started_jobs as (
  claim_id text, worker_id text, started_at bigint, lease_ms bigint, queue text, type text, version int, run int,
  attempt int, max_attempts int, ids text, places text, created_at text, enqueued_at text, specs text, rest text
);

-- One entry for all that are alike, as event-codec.ts writes it.
create function {schema}.started_events_v1(
  p_ids text, p_type text, p_queue text, p_run int, p_attempt int, p_version int, p_at bigint, p_worker_id text,
  p_tenant text
) returns text
language sql stable
as $$
  select '["*",["' || replace(p_ids, ',', '","') || '"],' || substr(json_build_array(
    'job.started', p_type, p_queue, p_run, p_attempt, p_version, p_at, json_build_object('worker_id', p_worker_id),
    'server', p_tenant
  )::text, 2)
$$;

-- Begins runs of locked jobs by one claim, which is noted already, and tells of it.
create function {schema}.start_v1(
  p_tenant text, p_ids uuid[], p_claim_id text, p_worker_id text, p_lease_ms bigint, p_now bigint
) returns setof {schema}.started_jobs
language plpgsql
set enable_seqscan = off set enable_hashjoin = on set enable_nestloop = off set enable_mergejoin = off set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  in_order uuid[] := array(select x from unnest(p_ids) x order by x);
  -- They tell which days the bodies are of, so that the other days are not even opened.
  first_id uuid := in_order[1];
  last_id uuid := in_order[cardinality(in_order)];
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
    where l.tenant = p_tenant and l.id = any (in_order)
    returning l.id, l.queue, l.place, l.version, l.run, l.attempt, l.lease_ms, l.enqueued_at, l.timeout_ms,
      l.visibility_ms, l.scheduled_at, l.finished_at, l.expires_at, l.retry_delay_ms, l.errors, l.result, l.dead,
      l.limit_key, l.holds_slot, l.workflow_id, l.advance_pending
  ),
  b as materialized (
    select b.id, b.type, b.max_attempts, b.created_at, b.idempotency_key, b.unique_key, b.node, b.spec
    from {schema}.job_bodies b
    where b.tenant = p_tenant and b.id = any (in_order) and b.id >= first_id and b.id <= last_id
  ),
  g as materialized (
    select
      u.lease_ms, u.queue, b.type, u.version, u.run, u.attempt, b.max_attempts, count(*) as told,
      string_agg(u.id::text, ',') as ids, string_agg(u.place::text, ',') as places,
      string_agg(b.created_at::text, ',') as created_at, string_agg(coalesce(u.enqueued_at::text, ''), ',') as enqueued_at,
      '[' || string_agg(b.spec, ',') || ']' as specs,
      json_agg(json_build_array(
        u.id, u.timeout_ms, u.visibility_ms, u.scheduled_at, u.finished_at, u.expires_at, u.retry_delay_ms,
        u.errors::json, u.result::json, u.dead, b.idempotency_key, b.unique_key, u.limit_key, u.holds_slot, u.workflow_id,
        b.node, u.advance_pending
      )) filter (where u.dead or u.holds_slot or u.advance_pending or num_nonnulls(
        u.timeout_ms, u.visibility_ms, u.scheduled_at, u.finished_at, u.expires_at, u.retry_delay_ms, u.errors, u.result,
        u.limit_key, u.workflow_id, b.idempotency_key, b.unique_key, b.node
      ) > 0)::text as rest
    from u join b on b.id = u.id
    group by u.lease_ms, u.queue, b.type, u.version, u.run, u.attempt, b.max_attempts
  ),
  s as (
    insert into {schema}.event_segments (at, count, body)
    select p_now, sum(g.told), '[' || string_agg({schema}.started_events_v1(
      g.ids, g.type, g.queue, g.run, g.attempt, g.version, p_now, p_worker_id, p_tenant), ',') || ']'
    from g where g.queue <> all (forgetful)
    having count(*) > 0
  ),
  x as (
    insert into {schema}.limit_starts (tenant, key, at, starts)
    select p_tenant, u.limit_key, p_now, count(*) from u where u.limit_key is not null group by u.limit_key
  )
  select
    p_claim_id, p_worker_id, p_now, g.lease_ms, g.queue, g.type, g.version, g.run, g.attempt, g.max_attempts, g.ids,
    g.places, g.created_at, g.enqueued_at, g.specs, g.rest
  from g;
end
$$;

-- As start_v1, for one job: to set up the statement for many takes three times as long as all of this. `p_is_told`: its
-- queue does not forget.
create function {schema}.start_one_v1(
  p_tenant text, p_id uuid, p_claim_id text, p_worker_id text, p_lease_ms bigint, p_is_told boolean, p_now bigint
) returns {schema}.started_jobs
language plpgsql
set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan
as $$
declare
  l {schema}.jobs_live;
  b {schema}.job_bodies;
  rest text;
begin
  update {schema}.jobs_live j set
    state = 4, ready = false, version = j.version + 1, run = j.run + 1, attempt = j.attempt + 1,
    claim_id = p_claim_id, worker_id = p_worker_id, outcome = null,
    lease_ms = coalesce(j.visibility_ms, p_lease_ms), lease_until = p_now + coalesce(j.visibility_ms, p_lease_ms),
    timeout_at = p_now + j.timeout_ms, started_at = p_now,
    next_at = least(p_now + coalesce(j.visibility_ms, p_lease_ms), p_now + j.timeout_ms)
  where j.tenant = p_tenant and j.id = p_id
  returning j.* into l;
  select x.* into b from {schema}.job_bodies x where x.tenant = p_tenant and x.id = p_id;
  if p_is_told then
    insert into {schema}.event_segments (at, count, body) values (p_now, 1, '[' || {schema}.started_events_v1(
      p_id::text, b.type, l.queue, l.run, l.attempt, l.version, p_now, p_worker_id, p_tenant) || ']');
  end if;
  if l.limit_key is not null then
    insert into {schema}.limit_starts (tenant, key, at, starts) values (p_tenant, l.limit_key, p_now, 1);
  end if;
  if l.dead or l.holds_slot or l.advance_pending or num_nonnulls(
    l.timeout_ms, l.visibility_ms, l.scheduled_at, l.finished_at, l.expires_at, l.retry_delay_ms, l.errors, l.result,
    l.limit_key, l.workflow_id, b.idempotency_key, b.unique_key, b.node) > 0
  then
    rest := json_build_array(json_build_array(
      l.id, l.timeout_ms, l.visibility_ms, l.scheduled_at, l.finished_at, l.expires_at, l.retry_delay_ms,
      l.errors::json, l.result::json, l.dead, b.idempotency_key, b.unique_key, l.limit_key, l.holds_slot, l.workflow_id,
      b.node, l.advance_pending
    ));
  end if;
  return (
    p_claim_id, p_worker_id, p_now, l.lease_ms, l.queue, b.type, l.version, l.run, l.attempt, b.max_attempts, p_id::text,
    l.place::text, b.created_at::text, coalesce(l.enqueued_at::text, ''), '[' || b.spec || ']', rest
  )::{schema}.started_jobs;
end
$$;

-- As start_v1, for jobs that are as they were made: their rows go, and one bundle for each queue takes their place.
create function {schema}.start_bundled_v1(
  p_tenant text, p_ids uuid[], p_claim_id text, p_worker_id text, p_lease_ms bigint, p_now bigint
) returns setof {schema}.started_jobs
language plpgsql
set enable_seqscan = off set enable_hashjoin = on set enable_nestloop = off set enable_mergejoin = off set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  in_order uuid[] := array(select x from unnest(p_ids) x order by x);
  least_id uuid := in_order[1];
  greatest_id uuid := in_order[cardinality(in_order)];
  forgetful text[] := {schema}.forgetful_v1(p_tenant);
begin
  return query
  with d as (
    delete from {schema}.jobs_live l where l.tenant = p_tenant and l.id = any (in_order)
    returning l.id, l.queue, l.place, l.enqueued_at, l.timeout_ms
  ),
  k as (
    insert into {schema}.bundles (
      tenant, claim_id, queue, worker_id, started_at, lease_ms, next_at, first_id, last_id, count, ids, places, enqueued_at
    )
    select
      p_tenant, p_claim_id, d.queue, p_worker_id, p_now, p_lease_ms, p_now + least(p_lease_ms, min(d.timeout_ms)),
      least_id, greatest_id, count(*), array_agg(d.id), array_agg(d.place), array_agg(d.enqueued_at)
    from d group by d.queue
  ),
  b as materialized (
    select b.id, b.type, b.max_attempts, b.created_at, b.idempotency_key, b.unique_key, b.spec
    from {schema}.job_bodies b
    where b.tenant = p_tenant and b.id = any (in_order) and b.id >= least_id and b.id <= greatest_id
  ),
  g as materialized (
    select
      d.queue, b.type, b.max_attempts, count(*) as told, string_agg(d.id::text, ',') as ids,
      string_agg(d.place::text, ',') as places, string_agg(b.created_at::text, ',') as created_at,
      string_agg(coalesce(d.enqueued_at::text, ''), ',') as enqueued_at, '[' || string_agg(b.spec, ',') || ']' as specs,
      json_agg(json_build_array(
        d.id, d.timeout_ms, null, null, null, null, null, null, null, false, b.idempotency_key, b.unique_key, null, false,
        null, null, false
      )) filter (where num_nonnulls(d.timeout_ms, b.idempotency_key, b.unique_key) > 0)::text as rest
    from d join b on b.id = d.id
    group by d.queue, b.type, b.max_attempts
  ),
  s as (
    insert into {schema}.event_segments (at, count, body)
    select p_now, sum(g.told), '[' || string_agg(
      {schema}.started_events_v1(g.ids, g.type, g.queue, 1, 1, 2, p_now, p_worker_id, p_tenant), ',') || ']'
    from g where g.queue <> all (forgetful)
    having count(*) > 0
  )
  select
    p_claim_id, p_worker_id, p_now, p_lease_ms, g.queue, g.type, 2, 1, 1, g.max_attempts, g.ids, g.places, g.created_at,
    g.enqueued_at, g.specs, g.rest
  from g;
end
$$;

-- Claims for several requests that name the same queues, in the order of the requests; a job tells by its claim id
-- whose it is. A request whose claim id was used before answers what it got then; one that is under way elsewhere is
-- waited for. `p_floors`: the places below which nothing is known to be ready, or null; a queue that has too little above
-- its floor is read from its start. Where a request gets `p_bundle_from` jobs or more, its plain ones are bundled.
create function {schema}.claim_v1(
  p_tenant text, p_queues text[], p_floors bigint[], p_claims text[], p_workers text[], p_limits int[],
  p_leases bigint[], p_bundle_from int, p_now bigint
) returns setof {schema}.started_jobs
language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  wanted int[] := p_limits;
  total int := 0;
  gate record;
  room int;
  is_limited boolean;
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
  before {schema}.started_jobs;
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
      before.claim_id := p_claims[n];
      before.ids := array_to_string(found, ',');
      return next before;
    end if;
    total := total + wanted[n];
  end loop;

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
      return query
      select j.* from {schema}.start_bundled_v1(p_tenant, bundled, p_claims[n], p_workers[n], p_leases[n], p_now) j;
      found := case when cardinality(bundled) = cardinality(found) then '{}' else array(
        select x from unnest(found) x where x <> all (bundled)
      ) end;
    end if;
    if cardinality(ids) = 1 and found <> '{}' then
      return next {schema}.start_one_v1(
        p_tenant, found[1], p_claims[n], p_workers[n], p_leases[n], is_told, p_now);
    elsif found <> '{}' then
      return query
      select j.* from {schema}.start_v1(p_tenant, found, p_claims[n], p_workers[n], p_leases[n], p_now) j;
    end if;
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
        p_tenant, p_ids[i], p_claim_id, p_worker_id, p_lease_ms, coalesce(gate.keeps, true), p_now);
      return query select i, null::text, v from {schema}.live_jobs v where v.tenant = p_tenant and v.id = p_ids[i];
    end if;
  end loop;
end
$$;
