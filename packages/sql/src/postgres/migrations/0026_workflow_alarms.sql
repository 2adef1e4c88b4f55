-- How long a workflow may take, when the engine must look at it, why it fails, and whether nodes of it may be skipped.
alter table {schema}.workflows
  add column timeout_ms bigint,
  add column next_at bigint,
  add column reason text,
  add column skips smallint not null default 0;

create index workflows_due on {schema}.workflows (next_at) where next_at is not null;

-- When the sweep has something to do: the next moment of jobs at work, of other jobs, of crons, workflows, limits and bundles;
-- at once where claims have used a limit. Each is the first entry of an index.
create function {schema}.due_at_v2() returns bigint
language plpgsql stable
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off
set plan_cache_mode = force_generic_plan
as $$
begin
  return least(
    (select next_at from {schema}.jobs_live where state = 4 and next_at is not null order by next_at limit 1),
    (select next_at from {schema}.jobs_live where state <> 4 and next_at is not null order by next_at limit 1),
    (select next_at from {schema}.crons where next_at is not null and enabled order by next_at limit 1),
    (select next_at from {schema}.workflows where next_at is not null order by next_at limit 1),
    (select next_at from {schema}.limits where next_at is not null order by next_at limit 1),
    (select next_at from {schema}.bundles order by next_at limit 1),
    (select 0 from {schema}.limit_starts limit 1)
  );
end
$$;
