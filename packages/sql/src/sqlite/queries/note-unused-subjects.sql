-- Rows from before their use was noted: they count as used now.
-- Parameters: 1 now, 2 limit.
update subjects set told_at = ?1 where (tenant, kind, subject) in (
  select tenant, kind, subject from subjects where told_at is null and kind <> 'workflow' limit ?2
)
