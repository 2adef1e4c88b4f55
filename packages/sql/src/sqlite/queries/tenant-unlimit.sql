-- Parameters: 1 tenant.
delete from tenant_limits where tenant = ?1
