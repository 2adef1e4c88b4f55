-- One row per job, updated in place. Columns that one change may write come first and in the order of rows.ts; what
-- never changes comes last. The tenant leads every index but jobs_due and jobs_finished, which serve all tenants.
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
-- Jobs that wait for a slot of their limit, oldest first.
create index jobs_parked on jobs (tenant, limit_key, seq)
  where state = 'available' and rank is null and limit_key is not null;
create index jobs_pending on jobs (tenant, id) where state = 'pending';
-- What pruning reads. Written in the order of ending, so it only ever grows at its end.
create index jobs_finished on jobs (dead, finished_at) where finished_at is not null;
-- Dead letters and the rest that people look for. Two comparisons instead of IN: a partial index is weighed on every
-- write, and IN with a list builds a temporary table each time (measured: a third of the drain).
create index jobs_unsuccessful on jobs (tenant, state, dead, id) where state = 'cancelled' or state = 'discarded';
create index jobs_workflow on jobs (tenant, workflow_id, id) where workflow_id is not null;
create unique index jobs_idempotency on jobs (tenant, idempotency_key) where idempotency_key is not null;

-- `child` waits for `parent`; a row is gone once its parent has completed and was advanced.
create table edges (
  tenant text not null,
  parent text not null,
  child text not null,
  primary key (tenant, parent, child)
) strict, without rowid;

create index edges_child on edges (tenant, child);

-- One row per transaction with everything that it did; the body is a JSON array, see event-codec.ts. Events before
-- `first` were pruned; the row goes with its last one.
create table event_segments (
  id integer primary key autoincrement,
  at integer not null,
  first integer not null,
  count integer not null,
  body text not null
) strict;

create table queues (
  tenant text not null,
  name text not null,
  paused integer not null,
  primary key (tenant, name)
) strict, without rowid;

-- `holders` is the number of jobs of the key with `holds_slot`; every write to one of them keeps it true.
create table limits (
  tenant text not null,
  key text not null,
  concurrency integer not null,
  holders integer not null,
  primary key (tenant, key)
) strict, without rowid;

create table workers (
  tenant text not null,
  id text not null,
  active_jobs integer not null,
  first_seen_at integer not null,
  last_seen_at integer not null,
  directive text not null,
  primary key (tenant, id)
) strict, without rowid;
