-- Rows that a version has made which does not note their use, nor where their rule comes from: they count as used now, and
-- as set by somebody.
-- Parameters: 1 now, 2 limit.
update {schema}.limits set
  used_at = $1, is_setting = concurrency is not null or rate_limit is not null
where (tenant, key) in (
  select tenant, key from {schema}.limits where used_at is null and not is_setting limit $2 for update skip locked
)
