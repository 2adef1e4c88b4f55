-- The newest that a run said of itself. A row goes with its job.
create table progress (
  tenant text not null,
  id text not null,
  run integer not null,
  number integer not null,
  sequence integer not null,
  fraction real,
  data text,
  checkpoint text,
  at integer not null,
  primary key (tenant, id)
) strict, without rowid;

-- 0: a completed job of the queue leaves neither its row nor its events behind.
alter table queues add column keeps integer not null default 1;

-- Nearly always empty: whether any queue keeps nothing is asked once per transaction.
create index queues_forgetful on queues (tenant, name) where keeps = 0;
