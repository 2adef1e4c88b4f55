-- Notes that a finished job's dependents were looked at.
-- Parameters: 1 tenant, 2 id.
update jobs set advance_pending = 0, next_at = null
where tenant = ?1 and id = ?2 and advance_pending = 1 and finished_at is not null
