-- Removes the batches of a job that is no more, or soon will be, as far as the limit allows.
-- Parameters: 1 tenant, 2 job, 3 limit.
delete from journal where pos in (select pos from journal where tenant = ?1 and job = ?2 limit ?3)
