-- Parameters: 1 tenant.
delete from {schema}.tenant_limits where tenant = $1
