-- Runs began or ended in a queue with a limit.
-- Parameters: 1 tenant, 2 name, 3 runs (below zero: ended).
update queues set active = active + ?3
where tenant = ?1 and name = ?2 and (concurrency is not null or rate_limit is not null)
