-- The head of the log up to the first segment that is young enough: pruned from there, the log never has gaps.
-- Parameters: 1 written before, 2 limit.
with head as (select id, at, first, count from event_segments order by id limit ?2)
select id, first, count from head
where id < coalesce((select min(id) from head where at >= ?1), 9223372036854775807)
