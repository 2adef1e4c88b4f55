-- Whose log it is, what a reader can see now, whether something was pruned that a reader had not seen, whether the
-- reader has seen what is yet to come (the database was set back), and up to which segment the log came with a restore.
-- Those segments count as written by transaction 3, the first there is: every snapshot but that of a reader that has
-- seen nothing contains it.
-- Parameters: 1 snapshot seen as a whole, 2 snapshot seen in part or null, 3 segment to continue with, 4 event of it to
-- continue with.
select store_id, pg_current_snapshot()::text, pruned_seq is not null
  and not pg_visible_in_snapshot(pruned.xid, $1::text::pg_snapshot)
  and not coalesce(
    pg_visible_in_snapshot(pruned.xid, $2::text::pg_snapshot)
      and ($3::bigint > pruned_seq or ($3::bigint = pruned_seq and $4::int >= coalesce(pruned_first, 2147483647))),
    false
  ),
  pg_snapshot_xmax($1::text::pg_snapshot) > pg_snapshot_xmax(pg_current_snapshot()),
  adopted_seq
from {schema}.log_state
cross join lateral (select case when pruned_seq <= adopted_seq then '3'::xid8 else pruned_xid end as xid) pruned
