-- Lists queues that may be new, from a transaction that may stay open for long. A row in `queues` would make everybody
-- wait for the commit who enqueues into the same new queue, because its key is unique. A row without counts in
-- `queue_totals` locks nothing; the next fold of the totals makes the row of the queue from it.
-- Answers the queues whose row was committed. A row of this transaction may still be rolled back: its xmin is not older
-- than the transaction, so its age is not positive.
create function {schema}.note_queues_v1(p_tenants text[], p_names text[]) returns table (tenant text, name text)
language plpgsql
set enable_seqscan = off set jit = off
as $$
#variable_conflict use_column
begin
  insert into {schema}.queue_totals (tenant, queue, completed, cancelled, discarded)
  select distinct x.tenant, x.name, 0, 0, 0 from unnest(p_tenants, p_names) as x (tenant, name)
  where not exists (select 1 from {schema}.queues q where q.tenant = x.tenant and q.name = x.name)
    and not exists (select 1 from {schema}.queue_totals t where t.tenant = x.tenant and t.queue = x.name);
  return query
  select distinct q.tenant, q.name from unnest(p_tenants, p_names) as x (tenant, name)
  join {schema}.queues q on q.tenant = x.tenant and q.name = x.name
  where age(q.xmin) > 0;
end
$$;

-- Stores one job as the engine would, for whoever speaks nothing but SQL; answers its id. Part of the transaction that it
-- is called in. It makes plain jobs only: what needs more than one row to be decided is refused, as is what is wrong.
-- Producers know it by this name alone, so a later version replaces it and still takes what this one takes.
create or replace function {schema}.enqueue(type text, args json default '[]', options json default '{}') returns uuid
language plpgsql volatile
as $$
declare
  v_micros bigint := floor(extract(epoch from clock_timestamp()) * 1000000);
  v_now bigint := v_micros / 1000;
  v_unknown text;
  v_queue text;
  v_priority bigint;
  v_delay bigint;
  v_due bigint;
  v_attempts bigint;
  v_timeout bigint;
  v_key text;
  v_id uuid;
  v_existing uuid;
  v_event json;
begin
  if type is null or length(type) > 255 or type collate "C" !~ '^[a-z][a-z0-9_-]*(\.[a-z][a-z0-9_-]*)*$' then
    raise invalid_parameter_value using message = '''type'' must be lower-case words joined by dots, like email.send.';
  end if;
  if args is null or json_typeof(args) <> 'array' then
    raise invalid_parameter_value using message = '''args'' must be a JSON array.';
  end if;
  options := coalesce(options, '{}');
  if json_typeof(options) <> 'object' then
    raise invalid_parameter_value using message = '''options'' must be a JSON object.';
  end if;
  select string_agg(name, ', ') into v_unknown from json_object_keys(options) as name
  where name not in ('queue', 'priority', 'delay_ms', 'max_attempts', 'timeout_ms', 'meta', 'id', 'idempotency_key');
  if v_unknown is not null then
    raise feature_not_supported using
      message = format('enqueue() does not take the options: %s.', v_unknown),
      hint = 'It takes queue, priority, delay_ms, max_attempts, timeout_ms, meta, id and idempotency_key. '
        'For everything else use the SDK or the HTTP interface.';
  end if;
  if json_typeof(options -> 'meta') not in ('object', 'null') then
    raise invalid_parameter_value using message = '''options.meta'' must be a JSON object.';
  end if;
  v_queue := coalesce({schema}.text_option_v1(options, 'queue', '^[a-z0-9][a-z0-9.-]{0,127}$',
    'must be 1 to 128 characters of a-z, 0-9, ''.'' and ''-'', beginning with a letter or digit.'), 'default');
  v_priority := coalesce({schema}.integer_option_v1(options, 'priority', -100, 100), 0);
  v_delay := {schema}.integer_option_v1(options, 'delay_ms', 0, 366 * 86400000::bigint);
  v_attempts := {schema}.integer_option_v1(options, 'max_attempts', 0, 1000000);
  v_timeout := {schema}.integer_option_v1(options, 'timeout_ms', 1, 366 * 86400000::bigint);
  v_key := {schema}.text_option_v1(options, 'idempotency_key', '^[\x20-\x7e]{1,255}$',
    'must be 1 to 255 printable ASCII characters.');
  v_id := coalesce({schema}.text_option_v1(options, 'id',
    '^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$', 'must be a UUIDv7 in lower case.')::uuid,
    {schema}.new_id_v1(v_now));
  v_due := case when v_delay > 0 then v_now + v_delay end;
  v_event := case when v_due is null
    then json_build_array('job.enqueued', v_id, type, v_queue, 0, 0, 1, v_now)
    else json_build_array('job.scheduled', v_id, type, v_queue, 0, 0, 1, v_now, json_build_object('scheduled_at',
      to_char(to_timestamp(v_due / 1000.0) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))
  end;

  -- A rival may take the same id or key between our look and our insert; then we look again.
  for tries in 1 .. 3 loop
    if exists (select 1 from {schema}.get_v1(array[''], array[v_id])) then
      raise unique_violation using message = format('There is already a job %s.', v_id);
    end if;
    select job_id into v_existing from {schema}.idempotency_keys where tenant = '' and key = v_key;
    if found then
      return v_existing;
    end if;
    begin
      perform {schema}.note_queues_v1(array[''], array[v_queue]);
      perform {schema}.insert_v1(
        p_tenant => '', p_id => array[v_id], p_type => array[type], p_queue => array[v_queue],
        p_priority => array[v_priority]::smallint[],
        -- The place of rank.ts: the priority, then the time in microseconds, or the time when it is due.
        p_place => array[(100 - v_priority) * 10000000000000000 + coalesce(v_due * 1000 + v_micros % 1000, v_micros)],
        p_state => array[case when v_due is null then 2 else 1 end]::smallint[], p_ready => array[v_due is null],
        p_next_at => array[coalesce(v_due, v_now + (select reminder_ms from {schema}.log_state))], p_version => array[1], p_run => null, p_attempt => null,
        p_max_attempts => array[coalesce(v_attempts, 3)]::int[], p_claim_id => null, p_worker_id => null,
        p_lease_ms => null, p_lease_until => null, p_outcome => null, p_timeout_ms => array[v_timeout],
        p_timeout_at => null, p_visibility_ms => null, p_created_at => array[v_now],
        p_enqueued_at => array[case when v_due is null then v_now end], p_scheduled_at => array[v_due],
        p_started_at => null, p_expires_at => null, p_retry_delay_ms => null, p_errors => null, p_error_type => null,
        p_error_code => null, p_idempotency_key => case when v_key is not null then array[v_key] end,
        p_unique_key => null, p_limit_key => null, p_holds_slot => null, p_workflow_id => null, p_node => null,
        p_advance_pending => null,
        -- Line ends stand only between the words of JSON, never in them.
        p_spec => replace(format('{"args":%s,"meta":%s%s%s}', args, coalesce(nullif((options -> 'meta')::text, 'null'), '{}'),
          case when v_attempts is not null then format(',"retry":{"max_attempts":%s}', v_attempts) end,
          case when v_delay is not null then
            format(',"options":{"scheduled_at":"+PT%sS"}', trim_scale(v_delay / 1000.0)) end), chr(10), ' '),
        p_new_queues => null, p_at => v_now, p_event_queues => array[v_queue],
        p_event_forgettable => array[true], p_event_counts => array[1],
        p_events => v_event::text, p_events_count_ids => false,
        p_wake => case when v_due is null then json_build_array(v_queue)::text end
      );
      return v_id;
    exception when unique_violation then
      if tries = 3 then
        raise;
      end if;
    end;
  end loop;
end
$$;
