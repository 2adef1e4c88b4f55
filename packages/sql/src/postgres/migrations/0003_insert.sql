-- The statements of the hot paths are functions: PostgreSQL keeps their plans, which spares planning a table of many
-- partitions for each flush, and one call is one round trip behind any pooler. They switch off whatever a planner that
-- was told of a table at a bad moment might choose instead of the primary key. A version in the name lets workers of
-- the version before live on; a function is never changed, only followed by the next.
--
-- Rows come column by column. A column without any value is passed as null; where `only_v1` is asked, a value that all
-- rows share comes once. Only what every row has is unnested, the rest is looked up by number: to set up an `unnest`
-- of forty columns took half the time of a small flush. Pieces of JSON come one in a line, since JSON has no line ends of
-- its own and is not looked into here; nothing stands for null.

-- The value of a column that comes once; null where each row has its own.
create function {schema}.only_v1(p_column anyarray) returns anyelement
language sql immutable parallel safe
as $$
  select case when cardinality(p_column) = 1 then p_column[1] end
$$;

create function {schema}.lines_v1(p_text text) returns text[]
language sql immutable parallel safe
as $$
  select string_to_array(p_text, chr(10), '')
$$;

-- The queues of a tenant that forget their completed jobs.
create function {schema}.forgetful_v1(p_tenant text) returns text[]
language sql stable
as $$
  select array(select name from {schema}.queues where tenant = p_tenant and not keeps)
$$;

-- Appends the events of a flush to the log: a list for each queue, and whether a queue that forgets leaves it out.
-- `p_ids`: the jobs that a single list only counts.
create function {schema}.log_v1(
  p_tenant text, p_at bigint, p_queues text[], p_forgettable boolean[], p_counts int[], p_events text, p_ids uuid[]
) returns void
language plpgsql
set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan
as $$
declare
  forgetful text[] := {schema}.forgetful_v1(p_tenant);
begin
  insert into {schema}.event_segments (at, count, body, ids)
  select p_at, sum(told), '[' || string_agg(events, ',') || ']', p_ids
  from unnest(p_queues, p_forgettable, p_counts, {schema}.lines_v1(p_events)) as x (queue, forgettable, told, events)
  where not (forgettable and queue = any (forgetful))
  having count(*) > 0;
end
$$;

-- Stores jobs of one tenant with their events. An id or an idempotency key that is taken fails the whole call (23505).
create function {schema}.insert_v1(
  p_tenant text, p_id uuid[], p_type text[], p_queue text[], p_priority smallint[], p_place bigint[], p_state smallint[],
  p_ready boolean[], p_next_at bigint[], p_version int[], p_run int[], p_attempt int[], p_max_attempts int[],
  p_claim_id text[], p_worker_id text[], p_lease_ms bigint[], p_lease_until bigint[], p_outcome text[],
  p_timeout_ms bigint[], p_timeout_at bigint[], p_visibility_ms bigint[], p_created_at bigint[], p_enqueued_at bigint[],
  p_scheduled_at bigint[], p_started_at bigint[], p_expires_at bigint[], p_retry_delay_ms bigint[], p_errors text,
  p_error_type text[], p_error_code text[], p_idempotency_key text[], p_unique_key text[], p_limit_key text[],
  p_holds_slot boolean[], p_workflow_id text[], p_node text[], p_advance_pending boolean[], p_spec text,
  p_new_queues text[], p_at bigint, p_event_queues text[], p_event_forgettable boolean[], p_event_counts int[],
  p_events text, p_events_count_ids boolean, p_wake text
) returns void
language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  only_type text := {schema}.only_v1(p_type);
  only_queue text := {schema}.only_v1(p_queue);
  only_priority smallint := {schema}.only_v1(p_priority);
  only_state smallint := {schema}.only_v1(p_state);
  only_ready boolean := {schema}.only_v1(p_ready);
  only_version int := {schema}.only_v1(p_version);
  only_max_attempts int := {schema}.only_v1(p_max_attempts);
  only_created_at bigint := {schema}.only_v1(p_created_at);
  only_enqueued_at bigint := {schema}.only_v1(p_enqueued_at);
  all_errors text[] := {schema}.lines_v1(p_errors);
begin
  if p_new_queues is not null then
    insert into {schema}.queues (tenant, name) select p_tenant, n from unnest(p_new_queues) n order by n
    on conflict do nothing;
  end if;
  if p_idempotency_key is not null then
    insert into {schema}.idempotency_keys (tenant, key, job_id)
    select p_tenant, k, i from unnest(p_idempotency_key, p_id) as x(k, i) where k is not null order by k;
  end if;
  -- Each table from the parameters: rows of forty columns that both could read would cost more than to look twice.
  insert into {schema}.job_bodies (
    tenant, id, created_at, max_attempts, priority, type, queue, timeout_ms, visibility_ms, idempotency_key, unique_key,
    limit_key, workflow_id, node, spec
  )
  select
    p_tenant, id, coalesce(only_created_at, p_created_at[n]), coalesce(only_max_attempts, p_max_attempts[n]),
    coalesce(only_priority, p_priority[n]), coalesce(only_type, p_type[n]), coalesce(only_queue, p_queue[n]),
    p_timeout_ms[n], p_visibility_ms[n], p_idempotency_key[n], p_unique_key[n], p_limit_key[n], p_workflow_id[n],
    p_node[n], spec
  from unnest(p_id, {schema}.lines_v1(p_spec)) with ordinality as x (id, spec, n);
  insert into {schema}.jobs_live (
    tenant, id, queue, place, next_at, version, run, attempt, state, ready, holds_slot, advance_pending, dead, claim_id,
    worker_id, outcome, lease_ms, lease_until, timeout_ms, timeout_at, visibility_ms, enqueued_at, scheduled_at,
    started_at, expires_at, retry_delay_ms, limit_key, workflow_id, error_type, error_code, errors
  )
  select
    p_tenant, id, coalesce(only_queue, p_queue[n]), place, p_next_at[n], coalesce(only_version, p_version[n]),
    coalesce(p_run[n], 0), coalesce(p_attempt[n], 0), coalesce(only_state, p_state[n]),
    coalesce(only_ready, p_ready[n]), coalesce(p_holds_slot[n], false), coalesce(p_advance_pending[n], false), false,
    p_claim_id[n], p_worker_id[n], p_outcome[n], p_lease_ms[n], p_lease_until[n], p_timeout_ms[n], p_timeout_at[n],
    p_visibility_ms[n], coalesce(only_enqueued_at, p_enqueued_at[n]), p_scheduled_at[n], p_started_at[n],
    p_expires_at[n], p_retry_delay_ms[n], p_limit_key[n], p_workflow_id[n], p_error_type[n], p_error_code[n],
    all_errors[n]
  from unnest(p_id, p_place) with ordinality as x (id, place, n);
  perform {schema}.log_v1(p_tenant, p_at, p_event_queues, p_event_forgettable, p_event_counts, p_events,
    case when p_events_count_ids then p_id end);
  if p_wake is not null then
    perform pg_notify({channel}, p_wake);
  end if;
end
$$;

-- As insert_v1, for one job without keys, limit or workflow that nobody has run: to set up the statement for many takes
-- longer than all of this, and a job that is enqueued by itself is waited for.
create function {schema}.insert_one_v1(
  p_tenant text, p_id uuid, p_type text, p_queue text, p_priority smallint, p_place bigint, p_state smallint,
  p_ready boolean, p_next_at bigint, p_version int, p_max_attempts int, p_timeout_ms bigint, p_visibility_ms bigint,
  p_created_at bigint, p_enqueued_at bigint, p_scheduled_at bigint, p_expires_at bigint, p_spec text,
  p_is_new_queue boolean, p_at bigint, p_is_forgettable boolean, p_told int, p_events text, p_wake text
) returns void
language plpgsql
set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan
as $$
begin
  if p_is_new_queue then
    insert into {schema}.queues (tenant, name) values (p_tenant, p_queue) on conflict do nothing;
  end if;
  insert into {schema}.job_bodies (
    tenant, id, created_at, max_attempts, priority, type, queue, timeout_ms, visibility_ms, spec
  )
  values (
    p_tenant, p_id, p_created_at, p_max_attempts, p_priority, p_type, p_queue, p_timeout_ms, p_visibility_ms, p_spec
  );
  insert into {schema}.jobs_live (
    tenant, id, queue, place, next_at, version, run, attempt, state, ready, holds_slot, advance_pending, dead, timeout_ms,
    visibility_ms, enqueued_at, scheduled_at, expires_at
  )
  values (
    p_tenant, p_id, p_queue, p_place, p_next_at, p_version, 0, 0, p_state, p_ready, false, false, false, p_timeout_ms,
    p_visibility_ms, p_enqueued_at, p_scheduled_at, p_expires_at
  );
  if p_told > 0 then
    insert into {schema}.event_segments (at, count, body) select p_at, p_told, '[' || p_events || ']'
    where not (p_is_forgettable and exists (
      select 1 from {schema}.queues where tenant = p_tenant and name = p_queue and not keeps
    ));
  end if;
  if p_wake is not null then
    perform pg_notify({channel}, p_wake);
  end if;
end
$$;
