-- How many jobs of a tenant may be active at once, in all its queues together. `active` is kept only while there is a limit,
-- so that tenants without one pay nothing.
create table tenant_limits (
  tenant text primary key,
  concurrency integer not null,
  active integer not null
) strict, without rowid;
