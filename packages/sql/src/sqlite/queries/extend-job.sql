-- Moves the end of a lease: the columns that the transition 'extend' changes.
-- Parameters: 1 lease_until, 2 next_at, 3 tenant, 4 id.
update jobs set lease_until = ?1, next_at = ?2 where tenant = ?3 and id = ?4
