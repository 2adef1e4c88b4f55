-- Parameters: 1 tenant, 2 idempotency key.
select * from jobs where tenant = ?1 and idempotency_key = ?2
