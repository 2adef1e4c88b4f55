-- One row per job, updated in place. Columns that one change may write come first and in the order of rows.ts; what
-- never changes comes last. The tenant leads every index but those of the sweep and
-- of pruning, which serve all tenants.
create table jobs (
  tenant text not null,
  id text not null,
  type text not null,
  queue text not null,
  priority integer not null,
  seq integer not null,
  state text not null,
  rank text,
  next_at integer,
  version integer not null,
  run integer not null,
  attempt integer not null,
  max_attempts integer not null,
  claim_id text,
  worker_id text,
  lease_ms integer,
  lease_until integer,
  outcome text,
  timeout_ms integer,
  timeout_at integer,
  visibility_ms integer,
  enqueued_at integer,
  scheduled_at integer,
  started_at integer,
  finished_at integer,
  expires_at integer,
  retry_delay_ms integer,
  dead integer not null,
  holds_slot integer not null,
  advance_pending integer not null,
  errors text,
  result text,
  created_at integer not null,
  idempotency_key text,
  unique_key text,
  limit_key text,
  workflow_id text,
  node text,
  spec text not null,
  primary key (tenant, id)
) strict;

-- What a claim reads: nothing that is parked, running, waiting or finished.
create index jobs_ready on jobs (tenant, queue, rank) where rank is not null;
-- What the sweep reads.
create index jobs_due on jobs (next_at) where next_at is not null;
-- The runs under way, by the claim that made them: a repeated claim finds its jobs here.
create index jobs_active on jobs (tenant, claim_id) where state = 'active';
-- Jobs that wait for a slot of their limit, in the order in which they get one.
create index jobs_parked on jobs (tenant, limit_key, priority desc, seq)
  where state = 'available' and rank is null and limit_key is not null;
create index jobs_pending on jobs (tenant, id) where state = 'pending';
-- What pruning reads. Written in the order of ending, so it only ever grows at its end.
create index jobs_finished on jobs (dead, finished_at) where finished_at is not null;
-- Dead letters and the rest that people look for. Two comparisons instead of IN: a partial index is weighed on every
-- write, and IN with a list builds a temporary table each time (measured: a third of the drain).
create index jobs_unsuccessful on jobs (tenant, state, dead, id) where state = 'cancelled' or state = 'discarded';
create index jobs_workflow on jobs (tenant, workflow_id, id) where workflow_id is not null;
-- The nodes that a workflow still waits for.
create index jobs_unfinished on jobs (tenant, workflow_id) where workflow_id is not null and finished_at is null;
create unique index jobs_idempotency on jobs (tenant, idempotency_key) where idempotency_key is not null;

-- The newest job of each unique key. A row goes with its job.
create table unique_keys (
  tenant text not null,
  key text not null,
  job_id text not null,
  primary key (tenant, key)
) strict, without rowid;

-- `child` waits for `parent` until the edge is met; `position` is its place among the edges of its insert. A row goes
-- with its child only: a child must not start because a parent that failed was forgotten.
create table edges (
  tenant text not null,
  parent text not null,
  child text not null,
  position integer not null,
  met integer not null,
  primary key (tenant, parent, child)
) strict, without rowid;

create index edges_child on edges (tenant, child, position);
-- What a child still waits for: a join of ten thousand must not walk them all each time that one is met.
create index edges_unmet on edges (tenant, child) where met = 0;

create table workflows (
  tenant text not null,
  id text not null,
  type text not null,
  name text,
  state text not null,
  failure_policy text not null,
  callbacks text not null,
  total integer not null,
  created_at integer not null,
  finished_at integer,
  primary key (tenant, id)
) strict, without rowid;

create index workflows_state on workflows (tenant, state, id);
create index workflows_finished on workflows (finished_at) where finished_at is not null;

create table crons (
  tenant text not null,
  name text not null,
  expression text not null,
  timezone text not null,
  overlap text not null,
  misfire text not null,
  catch_up_limit integer not null,
  enabled integer not null,
  description text,
  template text not null,
  next_at integer,
  last_at integer,
  last_job_id text,
  runs integer not null,
  created_at integer not null,
  version integer not null,
  primary key (tenant, name)
) strict, without rowid;

create index crons_due on crons (next_at) where next_at is not null and enabled = 1;

-- One row per transaction with everything that it did; the body is a JSON array, see event-codec.ts. Events before
-- `first` were pruned; the row goes with its last one.
create table event_segments (
  id integer primary key autoincrement,
  at integer not null,
  first integer not null,
  count integer not null,
  body text not null
) strict;

-- The totals count what ended since the queue began. `active` and `starts` (a window of limit starts, as JSON) are
-- kept only while the queue has a limit, so that queues without one pay nothing.
create table queues (
  tenant text not null,
  name text not null,
  paused integer not null default 0,
  concurrency integer,
  rate_limit integer,
  rate_period_ms integer,
  active integer not null default 0,
  starts text,
  completed integer not null default 0,
  cancelled integer not null default 0,
  discarded integer not null default 0,
  primary key (tenant, name)
) strict, without rowid;

-- Nearly always empty: whether any queue has a limit is asked once per transaction.
create index queues_limited on queues (tenant, name) where concurrency is not null or rate_limit is not null;

-- A row for every key that was ever used. `holders` is the number of jobs of the key with `holds_slot`, `unclaimed`
-- those of them that are not active; every write to one of them keeps both true. Neither concurrency nor rate: nobody
-- set a rule. `next_at`: when the rate lets the next parked job in; null where it holds up none.
create table limits (
  tenant text not null,
  key text not null,
  concurrency integer,
  rate_limit integer,
  rate_period_ms integer,
  holders integer not null default 0,
  unclaimed integer not null default 0,
  starts text,
  next_at integer,
  primary key (tenant, key)
) strict, without rowid;

create index limits_due on limits (next_at) where next_at is not null;

create table workers (
  tenant text not null,
  id text not null,
  active_jobs integer not null,
  first_seen_at integer not null,
  last_seen_at integer not null,
  directive text not null,
  primary key (tenant, id)
) strict, without rowid;
