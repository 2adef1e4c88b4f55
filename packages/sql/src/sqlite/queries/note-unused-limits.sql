-- Rows from before their use was noted: they count as used now.
-- Parameters: 1 now, 2 limit.
update limits set used_at = ?1 where (tenant, key) in (
  select tenant, key from limits where used_at is null and is_setting = 0 limit ?2
)
