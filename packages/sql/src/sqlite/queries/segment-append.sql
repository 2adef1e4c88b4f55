-- Parameters: 1 at, 2 count, 3 body.
insert into event_segments (at, first, count, body) values (?1, 0, ?2, ?3)
