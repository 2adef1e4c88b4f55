-- The queues of a tenant in which something can be claimed.
-- Parameters: 1 tenant.
select name from queues where tenant = ?1 and exists (
  select 1 from jobs where jobs.tenant = ?1 and jobs.queue = queues.name and jobs.rank is not null
)
