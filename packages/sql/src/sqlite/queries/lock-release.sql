-- Parameters: 1 name, 2 owner, 3 fence, 4 now.
update locks set until = ?4 where name = ?1 and owner = ?2 and fence = ?3 and until > ?4
