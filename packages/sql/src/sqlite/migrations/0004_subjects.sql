-- How many events there were of each thing that is not a job; the next one's number follows from it. The row of a workflow
-- goes with the workflow. The others stay, because their numbers must not restart.
create table subjects (
  tenant text not null,
  kind text not null,
  subject text not null,
  count integer not null,
  primary key (tenant, kind, subject)
) strict, without rowid;
