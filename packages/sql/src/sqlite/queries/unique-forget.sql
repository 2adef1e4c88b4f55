-- Parameters: 1 tenant, 2 key, 3 id of a job that is no more.
delete from unique_keys where tenant = ?1 and key = ?2 and job_id = ?3
