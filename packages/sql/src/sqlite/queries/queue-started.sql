-- Runs began in a queue with a limit.
-- Parameters: 1 tenant, 2 name, 3 runs, 4 starts.
update queues set active = active + ?3, starts = ?4 where tenant = ?1 and name = ?2
