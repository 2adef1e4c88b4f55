-- Parameters: 1 tenant, 2 parent.
update edges set met = 1 where tenant = ?1 and parent = ?2 and met = 0
