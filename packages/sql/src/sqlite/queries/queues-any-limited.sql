-- Whether any queue has a limit, and whether any tenant has one.
select
  exists (select 1 from queues where concurrency is not null or rate_limit is not null),
  exists (select 1 from tenant_limits)
