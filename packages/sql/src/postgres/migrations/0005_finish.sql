-- Forgets completed jobs of one tenant whose living rows are gone, with their keys.
create function {schema}.forget_v1(p_tenant text, p_ids uuid[], p_have_bodies boolean) returns void
language plpgsql
set enable_seqscan = off set enable_nestloop = on set enable_hashjoin = off set enable_mergejoin = off set jit = off
set plan_cache_mode = force_generic_plan
as $$
begin
  if p_have_bodies then
    delete from {schema}.job_bodies where tenant = p_tenant and id = any (p_ids);
  end if;
  delete from {schema}.progress where tenant = p_tenant and id = any (p_ids);
  delete from {schema}.idempotency_keys where job_id = any (p_ids) and tenant = p_tenant;
  -- Whoever holds the lock of a key waits for the row of its owner, which we have; so the key is not waited for.
  delete from {schema}.unique_keys where tenant = p_tenant and key = any (array(
    select key from {schema}.unique_keys where job_id = any (p_ids) and tenant = p_tenant for update skip locked
  ));
end
$$;

-- Ends runs of one tenant, each fenced by its lease, whose jobs have neither a limit nor dependents: the common end, and
-- so the cheapest. During a run nobody but `extend` writes the row, so the rest of the end is what the row says. The ids
-- come in order, which is the order in which the rows are locked. A run that is over, or another's, is rare: it fails
-- the whole call (WB001), and apply_v1 tells what is what.
create function {schema}.finish_v1(
  p_tenant text, p_id uuid[], p_run int[], p_claim_id text[], p_state smallint[], p_version int[], p_outcome text[],
  p_finished_at bigint[], p_dead boolean[], p_errors text, p_error_type text[], p_error_code text[], p_result text,
  p_at bigint, p_event_queues text[], p_event_forgettable boolean[], p_event_counts int[], p_events text
) returns void
language plpgsql
set enable_seqscan = off set enable_nestloop = off set enable_mergejoin = off set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  ended int;
  left_queues text[];
  forgotten uuid[];
  have_bodies boolean;
  forgetful text[] := {schema}.forgetful_v1(p_tenant);
  only_run int := {schema}.only_v1(p_run);
  only_state smallint := {schema}.only_v1(p_state);
  only_version int := {schema}.only_v1(p_version);
  only_outcome text := {schema}.only_v1(p_outcome);
  all_errors text[] := {schema}.lines_v1(p_errors);
begin
  -- The state is said so that no planner takes the index of active jobs for the shorter way.
  with d as (
    delete from {schema}.jobs_live l where l.tenant = p_tenant and l.id = any (p_id) and l.state + 0 = 4
    returning l.id, l.run, l.claim_id, l.queue, l.place, l.attempt, l.worker_id, l.lease_ms, l.enqueued_at,
      l.started_at, l.expires_at, l.retry_delay_ms, l.spec is not null as has_own_body,
      case when l.spec is not null and not (only_state = 5 and l.queue = any (forgetful)) then l end as own
  ),
  m as materialized (
    select c.id, c.claim_id, coalesce(only_state, p_state[n]) as state, coalesce(only_version, p_version[n]) as version,
      coalesce(only_outcome, p_outcome[n]) as outcome, c.finished_at, coalesce(p_dead[n], false) as dead,
      all_errors[n] as errors, p_error_type[n] as error_type, p_error_code[n] as error_code, c.result, d.run, d.queue, d.place,
      d.attempt, d.worker_id, d.lease_ms, d.enqueued_at, d.started_at, d.expires_at, d.retry_delay_ms, d.has_own_body,
      d.own, coalesce(only_state, p_state[n]) = 5 and d.queue = any (forgetful) as is_forgotten
    from unnest(p_id, p_claim_id, p_finished_at, {schema}.lines_v1(p_result))
      with ordinality as c (id, claim_id, finished_at, result, n)
    join d on d.id = c.id and d.run = coalesce(only_run, p_run[n]) and d.claim_id = c.claim_id
  ),
  e as (
    insert into {schema}.job_ends (
      tenant, id, place, finished_at, version, run, attempt, state, dead, claim_id, worker_id, outcome, lease_ms,
      enqueued_at, started_at, expires_at, retry_delay_ms, error_type, error_code, errors, result
    )
    select
      p_tenant, id, place, finished_at, version, run, attempt, state, dead, claim_id, worker_id, outcome, lease_ms,
      enqueued_at, started_at, expires_at, retry_delay_ms, error_type, error_code, errors, result
    from m where not is_forgotten
  ),
  -- What ends and is not forgotten gets a body of its own.
  b as (
    insert into {schema}.job_bodies (
      tenant, id, created_at, max_attempts, priority, type, queue, timeout_ms, visibility_ms, idempotency_key, unique_key,
      limit_key, workflow_id, node, spec
    )
    select
      p_tenant, id, (own).created_at, (own).max_attempts, (own).priority, (own).type, queue, (own).timeout_ms,
      (own).visibility_ms, (own).idempotency_key, (own).unique_key, (own).limit_key, (own).workflow_id, (own).node,
      (own).spec
    from m where has_own_body and not is_forgotten
  ),
  t as (
    insert into {schema}.queue_totals (tenant, queue, completed, cancelled, discarded)
    select p_tenant, queue, count(*) filter (where state = 5), count(*) filter (where state = 7),
      count(*) filter (where state = 8)
    from m group by queue
    returning queue
  )
  select
    count(*), (select array_agg(t.queue) from t), array_agg(m.id) filter (where m.is_forgotten),
    bool_or(m.is_forgotten and not m.has_own_body)
  into ended, left_queues, forgotten, have_bodies from m;
  if ended < cardinality(p_id) then
    raise exception 'A run is over, or has another lease.' using errcode = 'WB001';
  end if;
  -- Now that all rows are locked: the number of the segment is what orders the events of a job.
  perform {schema}.log_v1(p_tenant, p_at, p_event_queues, p_event_forgettable, p_event_counts, p_events);
  if forgotten is not null then
    perform {schema}.forget_v1(p_tenant, forgotten, have_bodies);
  end if;
  perform {schema}.tell_room_v1(p_tenant, left_queues);
end
$$;
