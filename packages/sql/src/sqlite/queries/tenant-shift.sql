-- Runs of a tenant with a limit began or ended.
-- Parameters: 1 tenant, 2 runs (below zero: ended).
update tenant_limits set active = active + ?2 where tenant = ?1
