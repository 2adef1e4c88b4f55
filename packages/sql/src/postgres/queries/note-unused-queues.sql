-- Rows that were used since pruning last looked.
-- Parameters: 1 now, 2 limit.
update {schema}.queues set used_at = $1 where (tenant, name) in (
  select tenant, name from {schema}.queues where used_at is null limit $2 for update skip locked
)
