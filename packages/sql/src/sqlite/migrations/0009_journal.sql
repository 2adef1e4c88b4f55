-- What runs say, one row per batch. A position is never given twice, since a reader that has seen it would miss the second.
-- `weight` is that of the job's whole journal up to this batch; `types` is a JSON list. The body stands last, so that what
-- looks at the other columns does not read it. A row goes with its job, at the latest.
create table journal (
  pos integer primary key autoincrement,
  tenant text not null,
  job text not null,
  run integer not null,
  after integer not null,
  first integer not null,
  last integer not null,
  first_at integer not null,
  last_at integer not null,
  stored_at integer not null,
  weight integer not null,
  types text not null,
  body blob not null
) strict;

-- The batches of a run are a chain: each place has one successor at most.
create unique index journal_chain on journal (tenant, job, run, after, last);
