-- A job is a body, written once, and either a living row, a place in a bundle or an end. Claims and settles touch narrow
-- rows only, and what has finished is in none of their indexes. The tenant leads every key but those that serve all tenants.
-- All times are milliseconds since the epoch. JSON is text: nobody looks into it here, and it must come back as it was.

-- States: 1 scheduled, 2 available, 3 pending, 4 active, 5 completed, 6 retryable, 7 cancelled, 8 discarded.
-- `place` is the rank of rank.ts, kept also while the job cannot be claimed; `ready` says that it can. `queue`,
-- `limit_key`, `workflow_id`, `timeout_ms` and `visibility_ms` are copies of what the body has. A finished node stays
-- here until its dependents were looked at; only then it becomes an end. A job whose run is in a bundle has no row here.
create table {schema}.jobs_live (
  tenant text not null,
  id uuid not null,
  queue text not null,
  place bigint not null,
  next_at bigint,
  version int not null,
  run int not null,
  attempt int not null,
  state smallint not null,
  ready boolean not null,
  holds_slot boolean not null,
  advance_pending boolean not null,
  dead boolean not null,
  claim_id text,
  worker_id text,
  outcome text,
  lease_ms bigint,
  lease_until bigint,
  timeout_ms bigint,
  timeout_at bigint,
  visibility_ms bigint,
  enqueued_at bigint,
  scheduled_at bigint,
  started_at bigint,
  finished_at bigint,
  expires_at bigint,
  retry_delay_ms bigint,
  limit_key text,
  workflow_id text,
  error_type text,
  error_code text,
  errors text,
  result text,
  primary key (tenant, id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

-- What a claim reads: nothing that is parked, running, waiting or finished.
create index jobs_ready on {schema}.jobs_live (tenant, queue, place) where ready;
-- What the sweep reads; in two, so that the runs under way can be found and counted among whatever waits.
create index jobs_due_active on {schema}.jobs_live (next_at) where state = 4;
create index jobs_due_waiting on {schema}.jobs_live (next_at) where state <> 4 and next_at is not null;
-- What the numbers of a queue are counted by, where a million of its jobs or of others may wait.
create index jobs_waiting on {schema}.jobs_live (tenant, queue, state) where state in (1, 6);
-- Jobs that wait for a slot of their limit, in the order in which they get one.
create index jobs_parked on {schema}.jobs_live (tenant, limit_key, place)
  where state = 2 and not ready and limit_key is not null;
create index jobs_pending on {schema}.jobs_live (tenant, id) where state = 3;
create index jobs_workflow on {schema}.jobs_live (tenant, workflow_id) where workflow_id is not null;

-- What never changes.
create table {schema}.job_bodies (
  tenant text not null,
  id uuid not null,
  created_at bigint not null,
  max_attempts int not null,
  priority smallint not null,
  type text not null,
  queue text not null,
  timeout_ms bigint,
  visibility_ms bigint,
  idempotency_key text,
  unique_key text,
  limit_key text,
  workflow_id text,
  node text,
  spec text not null,
  primary key (tenant, id)
) partition by range (id);

create index job_bodies_workflow on {schema}.job_bodies (tenant, workflow_id, id) where workflow_id is not null;

-- What a job came to, beside its body.
create table {schema}.job_ends (
  tenant text not null,
  id uuid not null,
  place bigint not null,
  finished_at bigint not null,
  version int not null,
  run int not null,
  attempt int not null,
  state smallint not null,
  dead boolean not null,
  claim_id text,
  worker_id text,
  outcome text,
  lease_ms bigint,
  enqueued_at bigint,
  started_at bigint,
  expires_at bigint,
  retry_delay_ms bigint,
  error_type text,
  error_code text,
  errors text,
  result text,
  primary key (tenant, id)
) partition by range (id);

-- Ends are written in the order of ending, so that a summary per stretch of the table finds the old ones.
create index job_ends_finished on {schema}.job_ends using brin (finished_at) with (pages_per_range = 16);
-- Dead letters and the rest that people look for.
create index job_ends_unsuccessful on {schema}.job_ends (tenant, state, dead, id) where state >= 7;

-- Days are added ahead of time by partitions.ts. Whatever has no day of its own goes here.
create table {schema}.job_bodies_other partition of {schema}.job_bodies default;
create table {schema}.job_ends_other partition of {schema}.job_ends default;

create table {schema}.idempotency_keys (
  tenant text not null,
  key text not null,
  job_id uuid not null,
  primary key (tenant, key)
);

create index idempotency_keys_job on {schema}.idempotency_keys (job_id);

-- The newest job of each unique key; null: nobody has it yet, but somebody is about to.
create table {schema}.unique_keys (
  tenant text not null,
  key text not null,
  job_id uuid,
  primary key (tenant, key)
);

create index unique_keys_job on {schema}.unique_keys (job_id);

-- Which jobs a claim id got. Kept for some minutes, since whoever repeats a claim does so soon.
create table {schema}.claims (
  tenant text not null,
  claim_id text not null,
  at bigint not null,
  ids uuid[] not null,
  primary key (tenant, claim_id)
);

create index claims_at on {schema}.claims (at);

-- The runs that one claim has begun in a queue, of jobs that were as they were made: one row instead of one for each,
-- since nearly all of them complete before anybody asks. All of them are of version 2, run 1 and attempt 1. At `next_at`
-- their lease ends, or the time of the one among them that has the least. Whoever wants to change one of them in another
-- way than by ending it opens the bundle, which gives each that has not ended its row (open_bundles_v1). `first_id` and
-- `last_id` are bounds.
create table {schema}.bundles (
  tenant text not null,
  claim_id text not null,
  queue text not null,
  worker_id text not null,
  started_at bigint not null,
  lease_ms bigint not null,
  next_at bigint not null,
  first_id uuid not null,
  last_id uuid not null,
  count int not null,
  ids uuid[] not null,
  places bigint[] not null,
  enqueued_at bigint[] not null,
  primary key (tenant, claim_id, queue)
);

create index bundles_due on {schema}.bundles (next_at);

-- Which runs of a bundle have ended: a row per flush. Whoever ends runs shares the lock of the bundle; whoever opens it
-- has the lock alone.
create table {schema}.bundle_ends (
  tenant text not null,
  claim_id text not null,
  queue text not null,
  count int not null,
  ids uuid[] not null
);

create index bundle_ends_bundle on {schema}.bundle_ends (tenant, claim_id, queue);

-- One row per flush with everything that it did; the body is a JSON array, see event-codec.ts, and `ids` are the jobs that
-- it only counts. Events before `first` were pruned. `seq` orders the events of a job, since it is drawn while the job is
-- locked; `xid` says which transactions a reader has seen.
create table {schema}.event_segments (
  seq bigint generated always as identity primary key,
  xid xid8 not null default pg_current_xact_id(),
  at bigint not null,
  first int not null default 0,
  count int not null,
  body text not null,
  ids uuid[]
);

create index event_segments_xid on {schema}.event_segments (xid, seq);

-- One row. `database` says where it was written: in another one, restored from a dump, the numbers of transactions mean
-- nothing. `pruned_*` name the newest segment that was pruned, and how many of its events (null: all).
create table {schema}.log_state (
  store_id text not null default replace(gen_random_uuid()::text, '-', ''),
  database text,
  pruned_seq bigint,
  pruned_xid xid8,
  pruned_first int
);

insert into {schema}.log_state default values;
