-- The version is compared too: what comes after must be above it, and then goes by the time alone.
-- Parameters: 1 expired before, 2 limit.
delete from records where rowid in (
  select rowid from records where expires_at <= ?1 and version < ?1 order by expires_at limit ?2
)
