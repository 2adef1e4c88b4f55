-- Hides the first events of a segment.
-- Parameters: 1 segment, 2 number of events.
with cut as (
  update {schema}.event_segments set first = first + $2 where seq = $1 returning seq, xid, first
)
update {schema}.log_state set pruned_seq = cut.seq, pruned_xid = cut.xid, pruned_first = cut.first from cut
