-- The oldest segment kept, its first event, and the newest segment ever written.
select
  (select min(id) from event_segments),
  (select first from event_segments where id = (select min(id) from event_segments)),
  coalesce((select seq from sqlite_sequence where name = 'event_segments'), 0)
