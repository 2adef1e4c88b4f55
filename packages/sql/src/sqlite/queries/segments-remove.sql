-- Parameters: 1 newest segment to remove.
delete from event_segments where id <= ?1
