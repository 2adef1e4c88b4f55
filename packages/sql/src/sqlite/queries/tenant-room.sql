-- How many more jobs of a tenant may start; below zero where its limit was lowered.
-- Parameters: 1 tenant.
select concurrency - active from tenant_limits where tenant = ?1
