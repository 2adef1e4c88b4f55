-- The head of the log up to the first segment that is young enough.
-- Parameters: 1 written before, 2 limit.
with head as materialized (select seq, at, first, count from {schema}.event_segments order by seq limit $2)
select seq, first, count from head
where seq < coalesce((select min(seq) from head where at >= $1), 9223372036854775807)
order by seq
