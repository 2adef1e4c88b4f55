-- Parameters: 1 position.
select run, after, first, last, first_at, last_at, stored_at, types, body from journal where pos = ?1
