-- Removes limits that came with jobs, were not used for long, and that no living job needs. Whoever changes a job of a limit
-- locks the limit first and notes its use, so a limit that a job has just come to is not found here any more.
-- Parameters: 1 last used before, 2 limit.
with old as materialized (
  select o.tenant, o.key from {schema}.limits o
  where not o.is_setting and o.used_at < $1 and o.holders = 0
    and not exists (
      select 1 from {schema}.jobs_live j
      where j.tenant = o.tenant and j.limit_key = o.key and j.limit_key is not null
    )
    and not exists (select 1 from {schema}.limit_starts s where s.tenant = o.tenant and s.key = o.key)
  order by o.used_at limit $2
  for update skip locked
),
gone as (
  delete from {schema}.limits l using old where l.tenant = old.tenant and l.key = old.key
  returning 1
)
select count(*)::int from gone
