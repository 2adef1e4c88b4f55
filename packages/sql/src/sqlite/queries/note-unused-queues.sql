-- Rows from before their use was noted: they count as used now.
-- Parameters: 1 now, 2 limit.
update queues set used_at = ?1 where (tenant, name) in (
  select tenant, name from queues where used_at is null limit ?2
)
