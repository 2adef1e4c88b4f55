-- Parameters: 1 segments.
with gone as (
  delete from {schema}.event_segments where seq = any ($1::bigint[]) returning seq, xid
),
last as (select seq, xid from gone order by seq desc limit 1)
update {schema}.log_state set pruned_seq = last.seq, pruned_xid = last.xid, pruned_first = null from last
where pruned_seq is null or pruned_seq <= last.seq
