--! compatible with 17
-- finish_v1 with one difference. Once autovacuum has told the planner how long the lists of bundles are, it joins the bundle
-- with the runs that end before it unfolds the lists: for each run all lists are read again, so that a flush of 500 takes
-- several hundred milliseconds instead of a few. Whether that happens depends on when autovacuum comes by.

-- Ends runs of one tenant, each fenced by its lease, whose jobs have neither a limit nor dependents: the common end, and
-- so the cheapest. During a run nobody but `extend` writes the row, so the rest of the end is what the row or the bundle
-- says. The ids come in order, which is the order in which rows are locked. `p_claim` tells which of `p_claims` has the
-- run. A run that is over, or another's, is rare: it fails the whole call (WB001, or 23505 where an end is there), and
-- apply_v1 tells what is what.
create function {schema}.finish_v2(
  p_tenant text, p_id uuid[], p_run int[], p_claims text[], p_claim int[], p_state smallint[], p_version int[],
  p_outcome text[], p_finished_at bigint[], p_dead boolean[], p_errors text, p_error_type text[], p_error_code text[],
  p_result text, p_at bigint, p_event_queues text[], p_event_forgettable boolean[], p_event_counts int[], p_events text,
  p_events_count_ids boolean
) returns void
language plpgsql
set enable_seqscan = off set enable_nestloop = off set enable_mergejoin = off set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  -- They tell which days the bodies are of.
  first_id uuid := p_id[1];
  last_id uuid := p_id[cardinality(p_id)];
  ended int := 0;
  more int;
  left_queues text[];
  more_queues text[];
  forgotten uuid[];
  more_forgotten uuid[];
  forgetful text[] := {schema}.forgetful_v1(p_tenant);
  only_run int := {schema}.only_v1(p_run);
  only_claim text := p_claims[{schema}.only_v1(p_claim)];
  only_state smallint := {schema}.only_v1(p_state);
  only_version int := {schema}.only_v1(p_version);
  only_outcome text := {schema}.only_v1(p_outcome);
  all_errors text[] := {schema}.lines_v1(p_errors);
begin
  if exists (select 1 from {schema}.bundles b where b.tenant = p_tenant and b.claim_id = any (p_claims)) then
    with k as materialized (
      select b.claim_id, b.queue, b.worker_id, b.started_at, b.lease_ms, b.ids, b.places, b.enqueued_at
      from {schema}.bundles b where b.tenant = p_tenant and b.claim_id = any (p_claims)
      order by b.claim_id, b.queue for share
    ),
    -- By itself, so that each list is read once.
    r as materialized (
      select k.claim_id, k.queue, k.worker_id, k.started_at, k.lease_ms, x.id, x.place, x.enqueued_at
      from k cross join lateral unnest(k.ids, k.places, k.enqueued_at) as x (id, place, enqueued_at)
    ),
    -- An id may come again once its job is forgotten.
    z as materialized (
      select e.claim_id, x.id from {schema}.bundle_ends e cross join lateral unnest(e.ids) as x (id)
      where e.tenant = p_tenant and e.claim_id = any (p_claims)
    ),
    m as materialized (
      select c.id, coalesce(only_state, p_state[n]) as state, coalesce(only_version, p_version[n]) as version,
        coalesce(only_outcome, p_outcome[n]) as outcome, c.finished_at, coalesce(p_dead[n], false) as dead,
        all_errors[n] as errors, p_error_type[n] as error_type, p_error_code[n] as error_code, c.result, r.claim_id, r.queue,
        r.place, r.worker_id, r.lease_ms, r.enqueued_at, r.started_at,
        coalesce(only_state, p_state[n]) = 5 and r.queue = any (forgetful) as is_forgotten
      from r
      join unnest(p_id, p_finished_at, {schema}.lines_v1(p_result)) with ordinality as c (id, finished_at, result, n)
        on c.id = r.id and r.claim_id = coalesce(only_claim, p_claims[p_claim[n]]) and coalesce(only_run, p_run[n]) = 1
      where not exists (select 1 from z where z.id = r.id and z.claim_id = r.claim_id)
        -- Two ends of a run meet at its end, or at its body where both forget it; one of each kind would not meet.
        and (coalesce(only_state, p_state[n]) = 5 or r.queue <> all (forgetful))
    ),
    e as (
      insert into {schema}.job_ends (
        tenant, id, place, finished_at, version, run, attempt, state, dead, claim_id, worker_id, outcome, lease_ms,
        enqueued_at, started_at, error_type, error_code, errors, result
      )
      select
        p_tenant, id, place, finished_at, version, 1, 1, state, dead, claim_id, worker_id, outcome, lease_ms, enqueued_at,
        started_at, error_type, error_code, errors, result
      from m where not is_forgotten
    ),
    -- In the same statement: a job that has come again meanwhile is not seen here.
    f as (
      delete from {schema}.job_bodies
      where tenant = p_tenant and id = any (array(select m.id from m where m.is_forgotten))
        and id >= first_id and id <= last_id
      returning 1
    ),
    x as (
      insert into {schema}.bundle_ends (tenant, claim_id, queue, count, ids)
      select p_tenant, claim_id, queue, count(*), array_agg(id) from m group by claim_id, queue
    ),
    t as (
      insert into {schema}.queue_totals (tenant, queue, completed, cancelled, discarded)
      select p_tenant, queue, count(*) filter (where state = 5), count(*) filter (where state = 7),
        count(*) filter (where state = 8)
      from m group by queue
      returning queue
    )
    select
      count(*) filter (where not m.is_forgotten) + (select count(*) from f), (select array_agg(t.queue) from t),
      array_agg(m.id) filter (where m.is_forgotten)
    into ended, left_queues, forgotten from m;
    -- A bundle whose runs have all ended has done its service. One that others still share is left to them, or to the
    -- sweep: two that wait for each other's bundles would never end.
    with done as (
      delete from {schema}.bundles where ctid = any (array(
        select b.ctid from {schema}.bundles b where b.tenant = p_tenant and b.claim_id = any (p_claims) and b.count = (
          select sum(e.count) from {schema}.bundle_ends e
          where e.tenant = p_tenant and e.claim_id = b.claim_id and e.queue = b.queue
        )
        for update skip locked
      ))
      returning claim_id, queue
    )
    delete from {schema}.bundle_ends e using done
    where e.tenant = p_tenant and e.claim_id = done.claim_id and e.queue = done.queue;
  end if;

  if ended < cardinality(p_id) then
    -- The state is said so that no planner takes the index of active jobs for the shorter way.
    with d as (
      delete from {schema}.jobs_live l where l.tenant = p_tenant and l.id = any (p_id) and l.state + 0 = 4
      returning l.id, l.run, l.claim_id, l.queue, l.place, l.attempt, l.worker_id, l.lease_ms, l.enqueued_at,
        l.started_at, l.expires_at, l.retry_delay_ms
    ),
    m as materialized (
      select c.id, d.claim_id, coalesce(only_state, p_state[n]) as state, coalesce(only_version, p_version[n]) as version,
        coalesce(only_outcome, p_outcome[n]) as outcome, c.finished_at, coalesce(p_dead[n], false) as dead,
        all_errors[n] as errors, p_error_type[n] as error_type, p_error_code[n] as error_code, c.result, d.run, d.queue,
        d.place, d.attempt, d.worker_id, d.lease_ms, d.enqueued_at, d.started_at, d.expires_at, d.retry_delay_ms,
        coalesce(only_state, p_state[n]) = 5 and d.queue = any (forgetful) as is_forgotten
      from unnest(p_id, p_finished_at, {schema}.lines_v1(p_result)) with ordinality as c (id, finished_at, result, n)
      join d on d.id = c.id and d.run = coalesce(only_run, p_run[n])
        and d.claim_id = coalesce(only_claim, p_claims[p_claim[n]])
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
    f as (
      delete from {schema}.job_bodies
      where tenant = p_tenant and id = any (array(select m.id from m where m.is_forgotten))
        and id >= first_id and id <= last_id
      returning 1
    ),
    t as (
      insert into {schema}.queue_totals (tenant, queue, completed, cancelled, discarded)
      select p_tenant, queue, count(*) filter (where state = 5), count(*) filter (where state = 7),
        count(*) filter (where state = 8)
      from m group by queue
      returning queue
    )
    select
    count(*) filter (where not m.is_forgotten) + (select count(*) from f), (select array_agg(t.queue) from t),
    array_agg(m.id) filter (where m.is_forgotten)
    into more, more_queues, more_forgotten from m;
    ended := ended + more;
    left_queues := left_queues || more_queues;
    forgotten := forgotten || more_forgotten;
  end if;
  if ended < cardinality(p_id) then
    raise exception 'A run is over, or has another lease.' using errcode = 'WB001';
  end if;
  -- Now that all rows are locked: the number of the segment is what orders the events of a job.
  perform {schema}.log_v1(p_tenant, p_at, p_event_queues, p_event_forgettable, p_event_counts, p_events,
    case when p_events_count_ids then p_id end);
  if forgotten is not null then
    perform {schema}.forget_v1(p_tenant, forgotten);
  end if;
  perform {schema}.tell_room_v1(p_tenant, left_queues);
end
$$;
