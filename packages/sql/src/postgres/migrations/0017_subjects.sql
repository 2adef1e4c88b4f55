-- How many events there were of each thing that is not a job; the next one's number follows from it. The row of a workflow
-- goes with the workflow. The others stay, because their numbers must not restart. Whoever tells of something locks its row
-- before the number of the segment is drawn, so the segments of one subject are in order.
create table {schema}.subjects (
  tenant text collate "C" not null,
  kind text collate "C" not null,
  subject text collate "C" not null,
  count bigint not null,
  primary key (tenant, kind, subject)
);

-- Whether an earlier transaction was committed. False for null, and for a number that this server has yet to give out: then
-- another server has taken over that knows nothing of the transaction.
create function {schema}.was_committed_v1(p_xid text) returns boolean
language sql volatile
as $$
  select coalesce(case when p_xid::xid8 < pg_current_xact_id() then pg_xact_status(p_xid::xid8) = 'committed' end, false)
$$;
