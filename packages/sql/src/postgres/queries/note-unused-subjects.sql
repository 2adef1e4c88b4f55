-- Rows that were used since pruning last looked.
-- Parameters: 1 now, 2 limit.
update {schema}.subjects set told_at = $1 where (tenant, kind, subject) in (
  select tenant, kind, subject from {schema}.subjects where told_at is null and kind <> 'workflow' limit $2 for update skip locked
)
