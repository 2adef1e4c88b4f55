-- The oldest segment kept, at or behind the given one, and the newest ever written.
-- Parameters: 1 segment.
select
  (select id from event_segments where id >= ?1 order by id limit 1),
  coalesce((select seq from sqlite_sequence where name = 'event_segments'), 0)
