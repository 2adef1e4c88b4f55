--! compatible with 24
-- What runs say while they run. A row is a batch of entries; the body is not looked into here. The batches of a run are a
-- chain: `after` is the last sequence of the batch before (-1: none), so the key lets no two writers fill the same place.
-- `weight` is the sum over all batches of the job so far, those of earlier runs and pruned ones included. `id` is that of the
-- job: the partitions are the days that bodies have, so a head is looked for in one of them.
create table {schema}.journal (
  tenant text not null,
  id uuid not null,
  run int not null,
  after bigint not null,
  first bigint not null,
  last bigint not null,
  first_at bigint not null,
  last_at bigint not null,
  stored_at bigint not null,
  weight bigint not null,
  types text[] not null,
  body bytea not null,
  primary key (tenant, id, run, after)
) partition by range (id);

-- Bodies come compressed where that helps, so the server does not try again. Their length is known without reading them.
alter table {schema}.journal alter column body set storage external;
-- Batches are mostly written in the order of time, so that a summary per stretch of the table finds the old ones.
create index journal_stored on {schema}.journal using brin (stored_at) with (pages_per_range = 16);

create table {schema}.journal_other partition of {schema}.journal default;

-- The days that bodies have already. Those to come are added by partitions.ts.
do $do$
declare
  of_day record;
begin
  for of_day in
    select replace(c.relname, 'job_ends_', 'journal_') as name, pg_get_expr(c.relpartbound, c.oid) as bounds
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = '{schema}.job_ends'::regclass and c.relname ~ '^job_ends_[0-9]{8}$'
  loop
    execute format('create table {schema}.%I partition of {schema}.journal %s', of_day.name, of_day.bounds);
  end loop;
end
$do$;

-- The tenants that have ever written to a journal. Where a job is forgotten, one look at this small table tells that there is
-- no journal to remove.
create table {schema}.journal_tenants (tenant text primary key);

-- Locks the bundles that runs of these jobs are in, and answers those of the jobs that run there and that the speaker of the
-- same number speaks for. Ends share the lock of a bundle, so that only who has it alone holds them up. The bundle is read and
-- not opened. Nothing else writes to a bundle, so what it says now is true until the commit.
create function {schema}.hold_bundled_v1(
  p_tenant text, p_id uuid[], p_run int[], p_claim_id text[], p_worker_id text[]
) returns uuid[]
language plpgsql
set enable_seqscan = off set enable_hashjoin = on set enable_nestloop = off set enable_mergejoin = off set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  rowless uuid[];
  claims text[];
  queues text[];
begin
  if not exists (select 1 from {schema}.bundles where tenant = p_tenant) then
    return '{}';
  end if;
  rowless := array(
    select x from unnest(p_id) x
    where (select 1 from {schema}.jobs_live l where l.tenant = p_tenant and l.id = x limit 1) is null
    order by x
  );
  if rowless = '{}' then
    return '{}';
  end if;
  -- In the order of their keys, as every statement that locks several. Most speakers have a token, which names the bundle.
  if p_claim_id is null or array_position(p_claim_id, null) is not null then
    select array_agg(k.claim_id), array_agg(k.queue) into claims, queues from (
      select b.claim_id, b.queue from {schema}.bundles b
      where b.tenant = p_tenant and b.first_id <= rowless[cardinality(rowless)] and b.last_id >= rowless[1]
        and exists (select 1 from unnest(b.ids) i join unnest(rowless) x on x = i)
      order by b.claim_id, b.queue for no key update
    ) k;
  else
    select array_agg(k.claim_id), array_agg(k.queue) into claims, queues from (
      select b.claim_id, b.queue from {schema}.bundles b
      where b.tenant = p_tenant and b.claim_id = any (p_claim_id)
        and b.first_id <= rowless[cardinality(rowless)] and b.last_id >= rowless[1]
      order by b.claim_id, b.queue for no key update
    ) k;
  end if;
  if claims is null then
    return '{}';
  end if;
  -- By itself: only a statement that begins after the wait for the locks sees what has ended meanwhile.
  return array(
    with k as materialized (
      select b.claim_id, b.queue, b.worker_id, b.ids from {schema}.bundles b
      join unnest(claims, queues) as h (claim_id, queue) on h.claim_id = b.claim_id and h.queue = b.queue
      where b.tenant = p_tenant and b.claim_id = any (claims)
    ),
    r as materialized (
      select k.claim_id, k.queue, k.worker_id, x.id from k cross join lateral unnest(k.ids) as x (id)
    ),
    z as materialized (
      select e.claim_id, e.queue, x.id from {schema}.bundle_ends e cross join lateral unnest(e.ids) as x (id)
      where e.tenant = p_tenant and e.claim_id = any (claims)
    )
    select r.id from r join unnest(p_id) with ordinality as c (id, n) on c.id = r.id
    where (p_run[n] is null or (p_run[n] = 1 and p_claim_id[n] = r.claim_id))
      and (p_worker_id[n] is null or p_worker_id[n] = r.worker_id)
      and not exists (select 1 from z where z.id = r.id and z.claim_id = r.claim_id and z.queue = r.queue)
  );
end
$$;

-- Adds batches to journals of one tenant, no two of one job, in the order of the ids. Each speaks for a run (p_run,
-- p_claim_id), for a worker (p_worker_id) or for any run that is active. The bodies are one after the other in p_bodies and the
-- types in p_types; p_body_end and p_type_end tell where each batch's end. Answers for each that its run hears: its number
-- (from 1), what happened, the run, its head before and the weight before.
-- Bundles and rows stay locked until the commit, so no batch of a run is stored after the end of that run, and of two
-- writers of one run the second sees what the first has written.
create function {schema}.append_journal_v1(
  p_tenant text, p_id uuid[], p_run int[], p_claim_id text[], p_worker_id text[], p_first bigint[], p_last bigint[],
  p_first_at bigint[], p_last_at bigint[], p_now bigint[], p_weight bigint[], p_at_most bigint[], p_type_end int[],
  p_types text[], p_body_end int[], p_bodies bytea
) returns table (n int, status text, run int, head bigint, weight bigint)
language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  runs int[];
  bundled uuid[] := {schema}.hold_bundled_v1(p_tenant, p_id, p_run, p_claim_id, p_worker_id);
begin
  -- After the bundles, as every statement that locks both. A bundle that was opened meanwhile has left its rows here.
  select array_agg(l.run order by c.n) into runs
  from unnest(p_id) with ordinality as c (id, n)
  left join lateral (
    select l.run from {schema}.jobs_live l
    where l.tenant = p_tenant and l.id = c.id and l.state + 0 = 4
      and (p_run[c.n] is null or (l.run = p_run[c.n] and l.claim_id = p_claim_id[c.n]))
      and (p_worker_id[c.n] is null or l.worker_id = p_worker_id[c.n])
    for no key update
  ) l on true;
  if not exists (select 1 from {schema}.journal_tenants t where t.tenant = p_tenant) then
    insert into {schema}.journal_tenants (tenant) values (p_tenant) on conflict do nothing;
  end if;
  return query
  with c as materialized (
    select x.n::int as n, x.id, coalesce(runs[x.n], case when x.id = any (bundled) then 1 end) as run
    from unnest(p_id) with ordinality as x (id, n)
  ),
  h as materialized (
    select c.n, c.id, c.run, coalesce(case when j.run = c.run then j.last end, -1) as head,
      coalesce(j.weight, 0) as weight
    from c
    left join lateral (
      select j.run, j.last, j.weight from {schema}.journal j
      where j.tenant = p_tenant and j.id = c.id order by j.run desc, j.after desc limit 1
    ) j on true
    where c.run is not null
  ),
  s as materialized (
    select h.*, case
        when p_first[h.n] <= h.head then 'behind'
        when h.weight + p_weight[h.n] > p_at_most[h.n] then 'full'
        else 'stored'
      end as status
    from h
  ),
  i as (
    insert into {schema}.journal (
      tenant, id, run, after, first, last, first_at, last_at, stored_at, weight, types, body
    )
    select
      p_tenant, s.id, s.run, s.head, p_first[s.n], p_last[s.n], p_first_at[s.n], p_last_at[s.n], p_now[s.n],
      s.weight + p_weight[s.n],
      coalesce(p_types[coalesce(p_type_end[s.n - 1], 0) + 1 : p_type_end[s.n]], '{}'),
      substring(
        p_bodies from coalesce(p_body_end[s.n - 1], 0) + 1 for p_body_end[s.n] - coalesce(p_body_end[s.n - 1], 0)
      )
    from s where s.status = 'stored'
  )
  select s.n, s.status, s.run, s.head, s.weight from s;
end
$$;

-- Batches of a job behind a place, in order: at most so many, and of so many bytes, but at least one. `is_last` tells of each
-- whether none is behind it. The journal of a job that is gone is gone, too, even where its batches are still to be removed.
create function {schema}.read_journal_v1(
  p_tenant text, p_id uuid, p_run int, p_sequence bigint, p_to_run int, p_from_at bigint, p_types text[], p_limit int,
  p_max_bytes bigint
) returns table (
  run int, after bigint, first bigint, last bigint, first_at bigint, last_at bigint, stored_at bigint, types text[],
  body bytea, is_last boolean
)
language plpgsql stable
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  start_after bigint;
begin
  if not exists (select 1 from {schema}.job_bodies b where b.tenant = p_tenant and b.id = p_id) then
    return;
  end if;
  -- The last batch that begins at the place or before it may reach beyond it; all before that one end before the place.
  select j.after into start_after from {schema}.journal j
  where j.tenant = p_tenant and j.id = p_id and j.run = p_run and j.after <= p_sequence
  order by j.after desc limit 1;
  return query
  select f.run, f.after, f.first, f.last, f.first_at, f.last_at, f.stored_at, f.types, f.body, f.n = f.found
  from (
    select j.*, row_number() over w as n, sum(octet_length(j.body)) over w as bytes, count(*) over () as found
    from (
      select * from {schema}.journal j
      where j.tenant = p_tenant and j.id = p_id and (j.run, j.after) >= (p_run, coalesce(start_after, -1))
        and (p_to_run is null or j.run <= p_to_run)
        and (j.run > p_run or j.last > p_sequence)
        and (p_from_at is null or j.last_at >= p_from_at)
        and (p_types is null or j.types && p_types)
      order by j.run, j.after limit p_limit + 1
    ) j
    window w as (order by j.run, j.after rows unbounded preceding)
  ) f
  where f.n = 1 or (f.n <= p_limit and f.bytes <= p_max_bytes)
  order by f.n;
end
$$;

-- Removes the journals of jobs of one tenant that are gone.
create function {schema}.forget_journals_v1(p_tenant text, p_ids uuid[]) returns void
language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
set plan_cache_mode = force_generic_plan
as $$
begin
  if exists (select 1 from {schema}.journal_tenants t where t.tenant = p_tenant) then
    delete from {schema}.journal j where j.tenant = p_tenant and j.id = any (p_ids)
      -- They tell which days the jobs are of.
      and j.id >= (select min(x::text)::uuid from unnest(p_ids) x)
      and j.id <= (select max(x::text)::uuid from unnest(p_ids) x);
  end if;
end
$$;

-- The journal goes with its job, also where a process of the version before removes it.
do $do$
declare
  change record;
  before text;
  after text;
begin
  for change in
    select * from (values
      ('forget_v1', E'begin\n', E'begin\n  perform {schema}.forget_journals_v1(p_tenant, p_ids);\n'),
      ('prune_v2', E'  loop\n', E'  loop\n    perform {schema}.forget_journals_v1(of_tenant.tenant, of_tenant.ids);\n')
    ) as c (name, found, put)
  loop
    before := pg_get_functiondef(format('{schema}.%I', change.name)::regproc);
    after := replace(before, change.found, change.put);
    if after = before then
      raise exception '% is not what this migration expects', change.name;
    end if;
    execute after;
  end loop;
end
$do$;

-- Removes batches that were stored before a time, but for the newest of a run that goes on: it tells how far that run has
-- come. Answers how many.
create function {schema}.prune_journal_v1(p_before bigint, p_limit int) returns int
language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
  removed int;
begin
  with old as materialized (
    select j.tenant, j.id, j.run, j.after from {schema}.journal j
    where j.stored_at < p_before
      and (
        exists (
          select 1 from {schema}.journal n
          where n.tenant = j.tenant and n.id = j.id and (n.run, n.after) > (j.run, j.after)
        )
        or exists (select 1 from {schema}.jobs_live l where l.tenant = j.tenant and l.id = j.id and l.state + 0 <> 4)
        or exists (select 1 from {schema}.job_ends e where e.tenant = j.tenant and e.id = j.id)
        or not exists (select 1 from {schema}.job_bodies b where b.tenant = j.tenant and b.id = j.id)
      )
    limit p_limit
    for update skip locked
  )
  delete from {schema}.journal j using old
  where j.tenant = old.tenant and j.id = old.id and j.run = old.run and j.after = old.after;
  get diagnostics removed = row_count;
  return removed;
end
$$;
