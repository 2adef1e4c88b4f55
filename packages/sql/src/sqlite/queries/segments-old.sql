-- The head of the log up to the first segment that is young enough: pruned from there, the log never has gaps. A segment whose
-- time has not come was written by a server with a wrong clock. It is as old as the first one behind it that has a time.
-- Parameters: 1 written before, 2 limit, 3 now.
with head as (select id, at, first, count from event_segments order by id limit ?2),
head_young as (select min(id) as id from head where at >= ?1 and at <= ?3),
head_next as (
  select at from event_segments where id > (select max(id) from head) and (at < ?1 or at <= ?3) order by id limit 1
)
select id, first, count from head
where id <= case
  when (select id from head_young) is null and (select at from head_next) < ?1 then id
  else (select max(id) from head where at < ?1 and id < coalesce((select id from head_young), 9223372036854775807))
end
