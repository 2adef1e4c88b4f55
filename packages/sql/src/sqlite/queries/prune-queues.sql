-- Removes queues without a setting in which nothing has ended for long and nothing can be claimed. Jobs that wait for a
-- time, a slot or another job are not looked for, since no index has them by queue: they need no row of their queue, and
-- the first of them that becomes claimable or ends makes one.
-- Parameters: 1 last used before, 2 limit.
delete from queues where (tenant, name) in (
  select tenant, name from queues
  where used_at < ?1 and paused = 0 and keeps = 1 and concurrency is null and rate_limit is null
    and not exists (
      select 1 from jobs where jobs.tenant = queues.tenant and jobs.queue = queues.name and jobs.rank is not null
    )
  limit ?2
)
returning tenant, name
