-- Removes limits that came with jobs, were not used for long, and that no living job needs.
-- Parameters: 1 last used before, 2 limit.
delete from limits where (tenant, key) in (
  select tenant, key from limits
  where is_setting = 0 and used_at < ?1 and holders = 0
    and not exists (
      select 1 from jobs
      where jobs.tenant = limits.tenant and jobs.limit_key = limits.key
        and jobs.limit_key is not null and jobs.finished_at is null
    )
  order by used_at
  limit ?2
)
