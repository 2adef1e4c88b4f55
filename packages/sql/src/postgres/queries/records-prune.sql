-- The version is compared too: what comes after must be above it, and then goes by the time alone.
-- Parameters: 1 expired before, 2 limit.
delete from {schema}.records where (tenant, kind, id) in (
  select tenant, kind, id from {schema}.records where expires_at <= $1 and version < $1 order by expires_at limit $2
)
and expires_at <= $1 and version < $1
returning 1
