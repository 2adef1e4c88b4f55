-- Parameters: 1 at, 2 count, 3 body.
insert into {schema}.event_segments (at, count, body) values ($1, $2, $3)
