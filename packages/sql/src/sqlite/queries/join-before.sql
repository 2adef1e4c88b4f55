-- The join that a job waits for.
-- Parameters: 1 tenant, 2 child.
select parent from edges where tenant = ?1 and child = ?2 and kind = 2
