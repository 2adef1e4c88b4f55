-- Does not make a queue known that was not.
-- Parameters: 1 tenant, 2 name.
update queues set paused = 0 where tenant = ?1 and name = ?2
