-- Rows from before their use was noted: they count as used now.
-- Parameters: 1 now, 2 limit.
update {schema}.limits set used_at = $1 where (tenant, key) in (
  select tenant, key from {schema}.limits where used_at is null and not is_setting limit $2 for update skip locked
)
