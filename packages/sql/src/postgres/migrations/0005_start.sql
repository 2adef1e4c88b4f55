-- Jobs that one claim has started are answered as JSON: a list for all that have much in common, with the number of the
-- claim, what they share, lists of what differs, and at last what hardly any job has, each behind its id. One text costs
-- both sides far less than rows of dozens of columns. started.ts reads it.

-- One entry for all that are alike, as event-codec.ts writes it. The ids are parted by `","`.
create function {schema}.started_events_v1(
  p_ids text, p_type text, p_queue text, p_run int, p_attempt int, p_version int, p_at bigint, p_worker_id text,
  p_tenant text
) returns text
language sql stable
as $$
  select '["*",["' || p_ids || '"],' || substr(json_build_array(
    'job.started', p_type, p_queue, p_run, p_attempt, p_version, p_at, json_build_object('worker_id', p_worker_id),
    'server', p_tenant
  )::text, 2)
$$;

-- The lists come without their brackets; those of ids and places without the first and last quote too.
create function {schema}.started_jobs_v1(
  p_n int, p_lease_ms bigint, p_queue text, p_type text, p_version int, p_run int, p_attempt int, p_max_attempts int,
  p_ids text, p_places text, p_created_at text, p_enqueued_at text, p_specs text, p_rest text
) returns text
language sql stable
as $$
  select '[' || p_n || ',' || p_lease_ms || ',' || to_json(p_queue) || ',' || to_json(p_type) || ',' || p_version || ','
    || p_run || ',' || p_attempt || ',' || p_max_attempts || ',["' || p_ids || '"],["' || p_places || '"],['
    || p_created_at || '],[' || p_enqueued_at || '],[' || p_specs || '],[' || coalesce(p_rest, '') || ']]'
$$;

-- Begins runs of locked jobs by one claim, which is noted already, and tells of it.
create function {schema}.start_v1(
  p_tenant text, p_ids uuid[], p_n int, p_claim_id text, p_worker_id text, p_lease_ms bigint, p_now bigint
) returns text
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
  started text;
begin
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
      string_agg(u.id::text, '","') as ids, string_agg(u.place::text, '","') as places,
      string_agg(b.created_at::text, ',') as created_at,
      string_agg(coalesce(u.enqueued_at::text, 'null'), ',') as enqueued_at, string_agg(b.spec, ',') as specs,
      string_agg(json_build_array(
        u.id, u.timeout_ms, u.visibility_ms, u.scheduled_at, u.finished_at, u.expires_at, u.retry_delay_ms,
        u.errors::json, u.result::json, u.dead, b.idempotency_key, b.unique_key, u.limit_key, u.holds_slot, u.workflow_id,
        b.node, u.advance_pending
      )::text, ',') filter (where u.dead or u.holds_slot or u.advance_pending or num_nonnulls(
        u.timeout_ms, u.visibility_ms, u.scheduled_at, u.finished_at, u.expires_at, u.retry_delay_ms, u.errors, u.result,
        u.limit_key, u.workflow_id, b.idempotency_key, b.unique_key, b.node
      ) > 0) as rest
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
  select string_agg({schema}.started_jobs_v1(
    p_n, g.lease_ms, g.queue, g.type, g.version, g.run, g.attempt, g.max_attempts, g.ids, g.places, g.created_at,
    g.enqueued_at, g.specs, g.rest), ',')
  into started from g;
  return started;
end
$$;

-- As start_v1, for one job: to set up the statement for many takes three times as long as all of this. `p_is_told`: its
-- queue does not forget. Whoever calls it has told the planner what it must not choose.
create function {schema}.start_one_v1(
  p_tenant text, p_id uuid, p_n int, p_claim_id text, p_worker_id text, p_lease_ms bigint, p_is_told boolean, p_now bigint
) returns text
language plpgsql
as $$
declare
  told text;
  started text;
  limited_by text;
begin
  update {schema}.jobs_live l set
    state = 4, ready = false, version = l.version + 1, run = l.run + 1, attempt = l.attempt + 1,
    claim_id = p_claim_id, worker_id = p_worker_id, outcome = null,
    lease_ms = coalesce(l.visibility_ms, p_lease_ms), lease_until = p_now + coalesce(l.visibility_ms, p_lease_ms),
    timeout_at = p_now + l.timeout_ms, started_at = p_now,
    next_at = least(p_now + coalesce(l.visibility_ms, p_lease_ms), p_now + l.timeout_ms)
  from {schema}.job_bodies b
  where l.tenant = p_tenant and l.id = p_id and b.tenant = p_tenant and b.id = p_id
  returning
    '[' || {schema}.started_events_v1(
      p_id::text, b.type, l.queue, l.run, l.attempt, l.version, p_now, p_worker_id, p_tenant) || ']',
    {schema}.started_jobs_v1(
      p_n, l.lease_ms, l.queue, b.type, l.version, l.run, l.attempt, b.max_attempts, p_id::text, l.place::text,
      b.created_at::text, coalesce(l.enqueued_at::text, 'null'), b.spec,
      case when l.dead or l.holds_slot or l.advance_pending or num_nonnulls(
        l.timeout_ms, l.visibility_ms, l.scheduled_at, l.finished_at, l.expires_at, l.retry_delay_ms, l.errors, l.result,
        l.limit_key, l.workflow_id, b.idempotency_key, b.unique_key, b.node) > 0
      then json_build_array(
        p_id, l.timeout_ms, l.visibility_ms, l.scheduled_at, l.finished_at, l.expires_at, l.retry_delay_ms,
        l.errors::json, l.result::json, l.dead, b.idempotency_key, b.unique_key, l.limit_key, l.holds_slot, l.workflow_id,
        b.node, l.advance_pending
      )::text end),
    l.limit_key
  into told, started, limited_by;
  if p_is_told then
    insert into {schema}.event_segments (at, count, body) values (p_now, 1, told);
  end if;
  if limited_by is not null then
    insert into {schema}.limit_starts (tenant, key, at, starts) values (p_tenant, limited_by, p_now, 1);
  end if;
  return started;
end
$$;

-- As start_v1, for jobs that are as they were made: their rows go, and one bundle for each queue takes their place.
create function {schema}.start_bundled_v1(
  p_tenant text, p_ids uuid[], p_n int, p_claim_id text, p_worker_id text, p_lease_ms bigint, p_now bigint
) returns text
language plpgsql
set enable_seqscan = off set enable_hashjoin = on set enable_nestloop = off set enable_mergejoin = off set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  in_order uuid[] := array(select x from unnest(p_ids) x order by x);
  least_id uuid := in_order[1];
  greatest_id uuid := in_order[cardinality(in_order)];
  forgetful text[] := {schema}.forgetful_v1(p_tenant);
  started text;
begin
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
      d.queue, b.type, b.max_attempts, count(*) as told, string_agg(d.id::text, '","') as ids,
      string_agg(d.place::text, '","') as places, string_agg(b.created_at::text, ',') as created_at,
      string_agg(coalesce(d.enqueued_at::text, 'null'), ',') as enqueued_at, string_agg(b.spec, ',') as specs,
      string_agg(json_build_array(
        d.id, d.timeout_ms, null, null, null, null, null, null, null, false, b.idempotency_key, b.unique_key, null, false,
        null, null, false
      )::text, ',') filter (where num_nonnulls(d.timeout_ms, b.idempotency_key, b.unique_key) > 0) as rest
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
  select string_agg({schema}.started_jobs_v1(
    p_n, p_lease_ms, g.queue, g.type, 2, 1, 1, g.max_attempts, g.ids, g.places, g.created_at, g.enqueued_at, g.specs,
    g.rest), ',')
  into started from g;
  return started;
end
$$;
