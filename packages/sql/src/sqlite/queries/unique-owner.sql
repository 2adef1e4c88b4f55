-- Parameters: 1 tenant, 2 key.
select job_id from unique_keys where tenant = ?1 and key = ?2
