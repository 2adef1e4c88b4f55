-- Parameters: 1 tenant, 2 kind, 3 id, 4 value, 5 expires_at, 6 now, 7 mark, 8 the version that it must have.
update {schema}.records set
  version = greatest(version + 1, $6::bigint), value = $4, updated_at = $6, expires_at = $5, mark = $7
where tenant = $1 and kind = $2 and id = $3 and version = $8
  and value is not null and (expires_at is null or expires_at > $6)
returning tenant, kind, id, version, value, created_at, updated_at, expires_at
