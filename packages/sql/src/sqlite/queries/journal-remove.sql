-- Parameters: 1 position.
delete from journal where pos = ?1
