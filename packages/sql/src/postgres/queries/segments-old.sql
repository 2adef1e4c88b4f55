-- The head of the log up to the first segment that is young enough. A segment whose time has not come was written by a server
-- with a wrong clock. It is as old as the first one behind it that has a time.
-- Parameters: 1 written before, 2 limit, 3 now.
with head as materialized (select seq, at, first, count from {schema}.event_segments order by seq limit $2),
head_young as materialized (select min(seq) as seq from head where at >= $1 and at <= $3),
head_next as materialized (
  select at from {schema}.event_segments
  where seq > (select max(seq) from head) and (at < $1 or at <= $3) order by seq limit 1
)
select seq, first, count from head
where seq <= case
  when (select seq from head_young) is null and (select at from head_next) < $1 then seq
  else (select max(seq) from head where at < $1 and seq < coalesce((select seq from head_young), 9223372036854775807))
end
order by seq
