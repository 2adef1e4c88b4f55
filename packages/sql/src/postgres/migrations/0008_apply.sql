-- Writes changes of one tenant, no two of one job, each if its row is what it expects: the run of the lease is under way
-- (p_x_run, p_x_claim_id), or nobody wrote since the row was read (p_x_version, p_x_next_at, p_x_holds_slot). Answers
-- for each change that took effect its number (from 1), whether it did so before, and what its row was. `p_kept_events`
-- are those of the events that also a queue tells that forgets.
create function {schema}.apply_v1(
  p_tenant text, p_id uuid[], p_queue text[], p_place bigint[], p_state smallint[], p_ready boolean[], p_next_at bigint[],
  p_version int[], p_run int[], p_attempt int[], p_claim_id text[], p_worker_id text[], p_lease_ms bigint[],
  p_lease_until bigint[], p_outcome text[], p_timeout_ms bigint[], p_timeout_at bigint[], p_visibility_ms bigint[],
  p_enqueued_at bigint[], p_scheduled_at bigint[], p_started_at bigint[], p_finished_at bigint[],
  p_expires_at bigint[], p_retry_delay_ms bigint[], p_errors text, p_error_type text[], p_error_code text[],
  p_result text, p_dead boolean[], p_limit_key text[], p_holds_slot boolean[], p_workflow_id text[],
  p_advance_pending boolean[], p_x_run int[], p_x_claim_id text[], p_x_version int[], p_x_next_at bigint[],
  p_x_holds_slot boolean[], p_events text, p_event_counts int[], p_kept_events text, p_kept_counts int[], p_at bigint,
  p_wake text
) returns table (n int, repeated boolean, was smallint, held boolean)
language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  -- What each row was; null: not what was expected.
  was_state smallint[];
  was_held boolean[];
  -- Whether it had ended before.
  was_ended boolean[];
  i int;
  ended record;
  forgetful text[] := {schema}.forgetful_v1(p_tenant);
  forgotten uuid[];
begin
  perform {schema}.open_bundles_v1(p_tenant, p_id);
  -- Row by row in the order given, which is that of the ids: whoever locks several does so in the same order.
  select array_agg(l.state order by c.n), array_agg(l.holds_slot order by c.n), array_agg(false)
  into was_state, was_held, was_ended
  from rows from (
    unnest(p_id), unnest(p_x_run), unnest(p_x_claim_id), unnest(p_x_version), unnest(p_x_next_at),
    unnest(p_x_holds_slot)
  ) with ordinality as c (id, x_run, x_claim_id, x_version, x_next_at, x_holds_slot, n)
  left join lateral (
    select l.state, l.holds_slot from {schema}.jobs_live l
    where l.tenant = p_tenant and l.id = c.id and case
      when c.x_run is not null then l.state = 4 and l.run = c.x_run and l.claim_id = c.x_claim_id
      else l.version = c.x_version and l.next_at is not distinct from c.x_next_at
        and l.holds_slot = coalesce(c.x_holds_slot, false)
    end
    for update
  ) l on true;

  -- What is not there may have ended: ends can be forgotten or come back to life.
  for i in 1 .. cardinality(p_id) loop
    continue when was_state[i] is not null or p_x_version[i] is null or p_x_next_at[i] is not null;
    select e.state, e.place into ended from {schema}.job_ends e
    where e.tenant = p_tenant and e.id = p_id[i] and e.version = p_x_version[i] for update;
    continue when not found;
    was_state[i] := ended.state;
    was_held[i] := false;
    was_ended[i] := true;
  end loop;

  with c as materialized (
    select
      *, state in (5, 7, 8) and not coalesce(advance_pending, false) as ends,
      case when queue = any (forgetful) then kept_told else all_told end as told,
      case when queue = any (forgetful) then kept_events else all_events end as events,
      state = 5 and workflow_id is null and queue = any (forgetful) as is_forgotten
    from unnest(
      p_id, p_queue, p_place, p_state, p_ready, p_next_at, p_version, p_run, p_attempt, p_claim_id, p_worker_id,
      p_lease_ms, p_lease_until, p_outcome, p_timeout_ms, p_timeout_at, p_visibility_ms, p_enqueued_at, p_scheduled_at,
      p_started_at, p_finished_at, p_expires_at, p_retry_delay_ms, {schema}.lines_v1(p_errors), p_error_type,
      p_error_code, {schema}.lines_v1(p_result), p_dead, p_limit_key, p_holds_slot, p_workflow_id, p_advance_pending,
      {schema}.lines_v1(p_events), p_event_counts, {schema}.lines_v1(p_kept_events), p_kept_counts, was_state, was_ended
    ) as x (
      id, queue, place, state, ready, next_at, version, run, attempt, claim_id, worker_id, lease_ms, lease_until, outcome,
      timeout_ms, timeout_at, visibility_ms, enqueued_at, scheduled_at, started_at, finished_at, expires_at,
      retry_delay_ms, errors, error_type, error_code, result, dead, limit_key, holds_slot, workflow_id, advance_pending,
      all_events, all_told, kept_events, kept_told, was, had_ended
    )
    where was is not null
  ),
  d as (
    delete from {schema}.jobs_live
    where tenant = p_tenant and id = any (array(select c.id from c where c.ends and not c.had_ended))
  ),
  e as (
    insert into {schema}.job_ends (
      tenant, id, place, finished_at, version, run, attempt, state, dead, claim_id, worker_id, outcome, lease_ms,
      enqueued_at, started_at, expires_at, retry_delay_ms, error_type, error_code, errors, result
    )
    select
      p_tenant, id, place, finished_at, version, coalesce(run, 0), coalesce(attempt, 0), state, coalesce(dead, false),
      claim_id, worker_id, outcome, lease_ms, enqueued_at, started_at, expires_at, retry_delay_ms, error_type, error_code,
      errors, result
    from c where ends and not is_forgotten
    -- Of an end only one thing ever changes by itself.
    on conflict (tenant, id) do update set dead = excluded.dead
  ),
  -- The rows are there and locked; said as a conflict, since as a join it might begin with all living jobs.
  u as (
    insert into {schema}.jobs_live (
      tenant, id, queue, place, next_at, version, run, attempt, state, ready, holds_slot, advance_pending, dead, claim_id,
      worker_id, outcome, lease_ms, lease_until, timeout_ms, timeout_at, visibility_ms, enqueued_at, scheduled_at,
      started_at, finished_at, expires_at, retry_delay_ms, limit_key, workflow_id, error_type, error_code, errors, result
    )
    select
      p_tenant, id, queue, place, next_at, version, coalesce(run, 0), coalesce(attempt, 0), state, ready,
      coalesce(holds_slot, false), coalesce(advance_pending, false), coalesce(dead, false), claim_id, worker_id, outcome,
      lease_ms, lease_until, timeout_ms, timeout_at, visibility_ms, enqueued_at, scheduled_at, started_at, finished_at,
      expires_at, retry_delay_ms, limit_key, workflow_id, error_type, error_code, errors,
      result
    from c where not ends
    on conflict (tenant, id) do update set
      place = excluded.place, next_at = excluded.next_at, version = excluded.version, run = excluded.run,
      attempt = excluded.attempt, state = excluded.state, ready = excluded.ready, holds_slot = excluded.holds_slot,
      advance_pending = excluded.advance_pending, dead = excluded.dead, claim_id = excluded.claim_id,
      worker_id = excluded.worker_id, outcome = excluded.outcome, lease_ms = excluded.lease_ms,
      lease_until = excluded.lease_until, timeout_at = excluded.timeout_at, enqueued_at = excluded.enqueued_at,
      scheduled_at = excluded.scheduled_at, started_at = excluded.started_at, finished_at = excluded.finished_at,
      expires_at = excluded.expires_at, retry_delay_ms = excluded.retry_delay_ms, error_type = excluded.error_type,
      error_code = excluded.error_code, errors = excluded.errors, result = excluded.result
  ),
  t as (
    insert into {schema}.queue_totals (tenant, queue, completed, cancelled, discarded)
    select p_tenant, queue, count(*) filter (where state = 5), count(*) filter (where state = 7),
      count(*) filter (where state = 8)
    from c where state in (5, 7, 8) and was not in (5, 7, 8) group by queue
  ),
  s as (
    insert into {schema}.event_segments (at, count, body)
    select p_at, sum(told), '[' || string_agg(events, ',') || ']'
    from c where told > 0 having count(*) > 0
  )
  select array_agg(c.id) filter (where c.is_forgotten) into forgotten from c;
  if forgotten is not null then
    delete from {schema}.job_bodies where tenant = p_tenant and id = any (forgotten);
    perform {schema}.forget_v1(p_tenant, forgotten);
  end if;

  if true = any (was_ended) then
    delete from {schema}.job_ends e
    where e.tenant = p_tenant and e.id = any (array(
      select x.id from unnest(p_id, p_state, was_ended) as x (id, state, had_ended)
      where x.had_ended and x.state not in (5, 7, 8)
    ));
  end if;
  perform {schema}.tell_room_v1(p_tenant, array(
    select distinct x.queue from unnest(p_queue, p_state, was_state) as x (queue, state, was)
    where x.was = 4 and x.state <> 4
  ));
  if p_wake is not null then
    perform pg_notify({channel}, p_wake);
  end if;

  return query
  select c.n::int, false, c.was, c.held
  from unnest(was_state, was_held) with ordinality as c (was, held, n) where c.was is not null;

  -- The same run with the same outcome: its settler did not hear our answer. Asked now, since only a statement that
  -- begins after the locks were had sees what their last holder did.
  if exists (
    select 1 from unnest(was_state, p_x_run) as c (was, x_run) where c.was is null and c.x_run is not null
  ) then
    return query
    select c.n::int, true, null::smallint, null::boolean
    from rows from (unnest(p_id), unnest(p_x_run), unnest(p_x_claim_id), unnest(p_outcome), unnest(was_state))
      with ordinality as c (id, x_run, x_claim_id, outcome, was, n)
    where c.was is null and c.x_run is not null and (
      exists (
        select 1 from {schema}.jobs_live l
        where l.tenant = p_tenant and l.id = c.id and l.state <> 4 and l.run = c.x_run and l.claim_id = c.x_claim_id
          and l.outcome = c.outcome
      ) or exists (
        select 1 from {schema}.job_ends e
        where e.tenant = p_tenant and e.id = c.id and e.run = c.x_run and e.claim_id = c.x_claim_id
          and e.outcome = c.outcome
      )
    );
  end if;
end
$$;
