-- Parameters: 1 tenant, 2 key.
select concurrency, holders from limits where tenant = ?1 and key = ?2
