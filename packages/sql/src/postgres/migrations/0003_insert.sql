-- The statements of the hot paths are functions: PostgreSQL keeps their plans, which spares planning a table of many
-- partitions for each flush, and one call is one round trip behind any pooler. They switch off whatever a planner that
-- was told of a table at a bad moment might choose instead of the primary key. A version in the name lets workers of
-- the version before live on; a function is never changed, only followed by the next.
--
-- Rows come column by column. A column without any value is passed as null, since `rows from` fills up with nulls.

-- The queues of a tenant that forget their completed jobs; null: none.
create function {schema}.forgetful_v1(p_tenant text) returns text[]
language sql stable
as $$
  select array_agg(name) from {schema}.queues where tenant = p_tenant and not keeps
$$;

-- Appends the events of a flush to the log: a list for each queue, and whether a queue that forgets leaves it out.
create function {schema}.log_v1(
  p_tenant text, p_at bigint, p_queues text[], p_forgettable boolean[], p_counts int[], p_events json
) returns void
language plpgsql
set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan
as $$
declare
  forgetful text[] := {schema}.forgetful_v1(p_tenant);
begin
  insert into {schema}.event_segments (at, count, body)
  select p_at, sum(told), '[' || string_agg(substr(events::text, 2, length(events::text) - 2), ',') || ']'
  from rows from (unnest(p_queues), unnest(p_forgettable), unnest(p_counts), json_array_elements(p_events))
    as x (queue, forgettable, told, events)
  where not (forgettable and forgetful is not null and queue = any (forgetful))
  having count(*) > 0;
end
$$;

-- Stores jobs of one tenant with their events. An id or an idempotency key that is taken fails the whole call (23505).
create function {schema}.insert_v1(
  p_tenant text, p_id uuid[], p_type text[], p_queue text[], p_priority smallint[], p_place bigint[], p_state smallint[],
  p_ready boolean[], p_next_at bigint[], p_version int[], p_run int[], p_attempt int[], p_max_attempts int[],
  p_claim_id text[], p_worker_id text[], p_lease_ms bigint[], p_lease_until bigint[], p_outcome text[],
  p_timeout_ms bigint[], p_timeout_at bigint[], p_visibility_ms bigint[], p_created_at bigint[], p_enqueued_at bigint[],
  p_scheduled_at bigint[], p_started_at bigint[], p_expires_at bigint[], p_retry_delay_ms bigint[], p_errors json,
  p_error_type text[], p_error_code text[], p_idempotency_key text[], p_unique_key text[], p_limit_key text[],
  p_holds_slot boolean[], p_workflow_id text[], p_node text[], p_advance_pending boolean[], p_spec json,
  p_new_queues text[], p_at bigint, p_event_queues text[], p_event_forgettable boolean[], p_event_counts int[],
  p_events json, p_wake text
) returns void
language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  forgetful text[] := {schema}.forgetful_v1(p_tenant);
begin
  if p_new_queues is not null then
    insert into {schema}.queues (tenant, name) select p_tenant, n from unnest(p_new_queues) n order by n
    on conflict do nothing;
  end if;
  if p_idempotency_key is not null then
    insert into {schema}.idempotency_keys (tenant, key, job_id)
    select p_tenant, k, i from unnest(p_idempotency_key, p_id) as x(k, i) where k is not null order by k;
  end if;
  with i as materialized (
    select *, forgetful is not null and queue = any (forgetful) as has_own_body from rows from (
      unnest(p_id), unnest(p_type), unnest(p_queue), unnest(p_priority), unnest(p_place), unnest(p_state),
      unnest(p_ready), unnest(p_next_at), unnest(p_version), unnest(p_run), unnest(p_attempt), unnest(p_max_attempts),
      unnest(p_claim_id), unnest(p_worker_id), unnest(p_lease_ms), unnest(p_lease_until), unnest(p_outcome),
      unnest(p_timeout_ms), unnest(p_timeout_at), unnest(p_visibility_ms), unnest(p_created_at), unnest(p_enqueued_at),
      unnest(p_scheduled_at), unnest(p_started_at), unnest(p_expires_at), unnest(p_retry_delay_ms),
      json_array_elements(p_errors), unnest(p_error_type), unnest(p_error_code), unnest(p_idempotency_key),
      unnest(p_unique_key), unnest(p_limit_key), unnest(p_holds_slot), unnest(p_workflow_id), unnest(p_node),
      unnest(p_advance_pending), json_array_elements(p_spec)
    ) as x (
      id, type, queue, priority, place, state, ready, next_at, version, run, attempt, max_attempts, claim_id, worker_id,
      lease_ms, lease_until, outcome, timeout_ms, timeout_at, visibility_ms, created_at, enqueued_at, scheduled_at,
      started_at, expires_at, retry_delay_ms, errors, error_type, error_code, idempotency_key, unique_key, limit_key,
      holds_slot, workflow_id, node, advance_pending, spec
    )
  ),
  b as (
    insert into {schema}.job_bodies (
      tenant, id, created_at, max_attempts, priority, type, queue, timeout_ms, visibility_ms, idempotency_key, unique_key,
      limit_key, workflow_id, node, spec
    )
    select
      p_tenant, id, created_at, max_attempts, priority, type, queue, timeout_ms, visibility_ms, idempotency_key,
      unique_key, limit_key, workflow_id, node, spec::text
    from i where not has_own_body
  )
  insert into {schema}.jobs_live (
    tenant, id, queue, place, next_at, version, run, attempt, state, ready, holds_slot, advance_pending, dead, claim_id,
    worker_id, outcome, lease_ms, lease_until, timeout_ms, timeout_at, visibility_ms, enqueued_at, scheduled_at,
    started_at, expires_at, retry_delay_ms, limit_key, workflow_id, error_type, error_code, errors, created_at,
    max_attempts, priority, type, idempotency_key, unique_key, node, spec
  )
  select
    p_tenant, id, queue, place, next_at, version, coalesce(run, 0), coalesce(attempt, 0), state, ready,
    coalesce(holds_slot, false), coalesce(advance_pending, false), false, claim_id, worker_id, outcome, lease_ms,
    lease_until, timeout_ms, timeout_at, visibility_ms, enqueued_at, scheduled_at, started_at, expires_at,
    retry_delay_ms, limit_key, workflow_id, error_type, error_code, nullif(errors::text, 'null'),
    case when has_own_body then created_at end, case when has_own_body then max_attempts end,
    case when has_own_body then priority end, case when has_own_body then type end,
    case when has_own_body then idempotency_key end, case when has_own_body then unique_key end,
    case when has_own_body then node end, case when has_own_body then spec::text end
  from i;
  -- A row that has its own body meets no other body by its key. Asked afterwards, when whoever was ending the job is done.
  if forgetful is not null and exists (
    select 1 from unnest(p_id, p_queue) as x (id, queue)
    where x.queue = any (forgetful)
      and exists (select 1 from {schema}.job_bodies b where b.tenant = p_tenant and b.id = x.id)
  ) then
    raise exception 'There is a job with this id that has ended.' using errcode = 'unique_violation';
  end if;
  perform {schema}.log_v1(p_tenant, p_at, p_event_queues, p_event_forgettable, p_event_counts, p_events);
  if p_wake is not null then
    perform pg_notify({channel}, p_wake);
  end if;
end
$$;
