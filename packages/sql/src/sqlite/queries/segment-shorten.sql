-- Hides the first events of a segment.
-- Parameters: 1 segment, 2 number of events.
update event_segments set first = first + ?2 where id = ?1
