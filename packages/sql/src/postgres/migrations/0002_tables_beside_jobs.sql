-- A queue that does not keep forgets its completed jobs, and the events of an ordinary life.
create table {schema}.queues (
  tenant text not null,
  name text not null,
  paused boolean not null default false,
  keeps boolean not null default true,
  concurrency int,
  rate_limit int,
  rate_period_ms bigint,
  completed bigint not null default 0,
  cancelled bigint not null default 0,
  discarded bigint not null default 0,
  primary key (tenant, name)
);

-- Nearly always empty: every flush asks it.
create index queues_forgetful on {schema}.queues (tenant, name) where not keeps;

-- Ends that were not added to their queue's totals yet: one row per flush, so that flushes do not wait for each other.
create table {schema}.queue_totals (
  tenant text not null,
  queue text not null,
  completed int not null,
  cancelled int not null,
  discarded int not null
);

create index queue_totals_queue on {schema}.queue_totals (tenant, queue);

-- Starts in a queue with a rate, counted by tenths of its period as in window.ts. Written under the lock of the queue.
create table {schema}.queue_starts (
  tenant text not null,
  queue text not null,
  slice bigint not null,
  starts int not null,
  primary key (tenant, queue, slice)
);

-- A row for every key that was ever used. `holders` is the number of jobs of the key with `holds_slot`, `unclaimed`
-- those of them that nobody has claimed, less what `limit_starts` has yet to tell. Neither concurrency nor rate: nobody
-- set a rule. `next_at`: when the rate lets the next parked job in; null where it holds up none. Whoever changes a
-- job of a limit, other than by a claim, locks this row first and the job after it.
create table {schema}.limits (
  tenant text not null,
  key text not null,
  concurrency int,
  rate_limit int,
  rate_period_ms bigint,
  holders int not null default 0,
  unclaimed int not null default 0,
  starts text,
  next_at bigint,
  primary key (tenant, key)
);

create index limits_due on {schema}.limits (next_at) where next_at is not null;

-- Claims of jobs with a slot. A claim only turns a holder that may start into a start, which leaves as many free slots
-- as before; so it needs no lock, and whoever gives out slots next adds these rows to the limit.
create table {schema}.limit_starts (
  tenant text not null,
  key text not null,
  at bigint not null,
  starts int not null
);

create index limit_starts_key on {schema}.limit_starts (tenant, key);

-- `child` waits for `parent` until the edge is met; `position` is its place among the edges of its insert. A row goes
-- with its child only: a child must not start because a parent that failed was forgotten.
create table {schema}.edges (
  tenant text not null,
  parent uuid not null,
  child uuid not null,
  position int not null,
  met boolean not null,
  primary key (tenant, parent, child)
);

create index edges_child on {schema}.edges (child, tenant, position);
-- What a child still waits for: a join of ten thousand must not walk them all each time that one is met.
create index edges_unmet on {schema}.edges (tenant, child) where not met;

create table {schema}.workflows (
  tenant text not null,
  id text collate "C" not null,
  type text not null,
  name text,
  state text not null,
  failure_policy text not null,
  callbacks text not null,
  total int not null,
  created_at bigint not null,
  finished_at bigint,
  primary key (tenant, id)
);

create index workflows_state on {schema}.workflows (tenant, state, id);
create index workflows_finished on {schema}.workflows (finished_at) where finished_at is not null;

create table {schema}.crons (
  tenant text not null,
  name text collate "C" not null,
  expression text not null,
  timezone text not null,
  overlap text not null,
  misfire text not null,
  catch_up_limit int not null,
  enabled boolean not null,
  description text,
  template text not null,
  next_at bigint,
  last_at bigint,
  last_job_id uuid,
  runs bigint not null,
  created_at bigint not null,
  version int not null,
  primary key (tenant, name)
);

create index crons_due on {schema}.crons (next_at) where next_at is not null and enabled;

-- What a run said of itself last; goes with its job.
create table {schema}.progress (
  tenant text not null,
  id uuid not null,
  run int not null,
  number bigint not null,
  sequence int not null,
  fraction float8,
  data text,
  checkpoint text,
  at bigint not null,
  primary key (tenant, id)
);

create table {schema}.workers (
  tenant text not null,
  id text collate "C" not null,
  active_jobs int not null,
  first_seen_at bigint not null,
  last_seen_at bigint not null,
  directive text not null,
  primary key (tenant, id)
);

-- Nearly all that is in there are ids, which nothing packs well.
alter table {schema}.claims alter column ids set storage external;
alter table {schema}.bundles
  alter column ids set storage external, alter column places set storage external,
  alter column enqueued_at set storage external;
alter table {schema}.bundle_ends alter column ids set storage external;
alter table {schema}.event_segments
  alter column body set storage external, alter column ids set storage external;

-- Packs long texts several times faster than the default does, where the server was built with it.
do $$ begin
  alter table {schema}.job_bodies alter column spec set compression lz4;
  alter table {schema}.job_bodies_other alter column spec set compression lz4;
exception when feature_not_supported then null;
end $$;

-- A whole job as rows.ts reads it: what lives, what runs in a bundle, and what has ended.
create view {schema}.live_jobs as
select
  l.tenant, l.id, b.type, l.queue, b.priority, l.place % 10000000000000000 as seq, l.state, l.next_at, l.version, l.run,
  l.attempt, b.max_attempts, l.claim_id, l.worker_id, l.lease_ms, l.lease_until, l.outcome, l.timeout_ms, l.timeout_at,
  l.visibility_ms, b.created_at, l.enqueued_at, l.scheduled_at, l.started_at, l.finished_at, l.expires_at,
  l.retry_delay_ms, l.errors, l.result, l.dead, b.idempotency_key, b.unique_key, l.limit_key, l.holds_slot, l.workflow_id,
  b.node, l.advance_pending, b.spec, l.error_type, l.error_code, l.ready, l.place
from {schema}.jobs_live l join {schema}.job_bodies b on b.tenant = l.tenant and b.id = l.id;

-- Its id is that of the body, so that who asks for some ids reads only their bodies.
create view {schema}.bundled_jobs as
select
  k.tenant, b.id, b.type, k.queue, b.priority, x.place % 10000000000000000 as seq, 4::smallint as state,
  k.started_at + least(k.lease_ms, b.timeout_ms) as next_at, 2 as version, 1 as run, 1 as attempt, b.max_attempts,
  k.claim_id, k.worker_id, k.lease_ms, k.started_at + k.lease_ms as lease_until, null::text as outcome, b.timeout_ms,
  k.started_at + b.timeout_ms as timeout_at, null::bigint as visibility_ms,
  b.created_at, x.enqueued_at, null::bigint as scheduled_at, k.started_at, null::bigint as finished_at,
  null::bigint as expires_at, null::bigint as retry_delay_ms, null::text as errors, null::text as result, false as dead,
  b.idempotency_key, b.unique_key, null::text as limit_key, false as holds_slot, null::text as workflow_id, b.node,
  false as advance_pending, b.spec, null::text as error_type, null::text as error_code, false as ready, x.place
from {schema}.bundles k
cross join lateral unnest(k.ids, k.places, k.enqueued_at) as x (id, place, enqueued_at)
join {schema}.job_bodies b on b.tenant = k.tenant and b.id = x.id
where not exists (
  select 1 from {schema}.bundle_ends e cross join lateral unnest(e.ids) as y (id)
  where e.tenant = k.tenant and e.claim_id = k.claim_id and e.queue = k.queue and y.id = x.id
);

create view {schema}.ended_jobs as
select
  e.tenant, e.id, b.type, b.queue, b.priority, e.place % 10000000000000000 as seq, e.state, null::bigint as next_at,
  e.version, e.run, e.attempt, b.max_attempts, e.claim_id, e.worker_id, e.lease_ms, null::bigint as lease_until,
  e.outcome, b.timeout_ms, null::bigint as timeout_at, b.visibility_ms, b.created_at, e.enqueued_at,
  null::bigint as scheduled_at, e.started_at, e.finished_at, e.expires_at, e.retry_delay_ms, e.errors, e.result,
  e.dead, b.idempotency_key, b.unique_key, b.limit_key, false as holds_slot, b.workflow_id, b.node,
  false as advance_pending, b.spec, e.error_type, e.error_code, false as ready, e.place
from {schema}.job_ends e join {schema}.job_bodies b on b.tenant = e.tenant and b.id = e.id;
