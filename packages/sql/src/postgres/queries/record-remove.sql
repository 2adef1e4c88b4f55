-- Parameters: 1 tenant, 2 kind, 3 id, 4 now, 5 mark, 6 the version that it must have or null.
update {schema}.records set value = null, expires_at = $4, mark = $5
where tenant = $1 and kind = $2 and id = $3 and (
  mark = $5
  or ($6::bigint is null or version = $6) and value is not null and (expires_at is null or expires_at > $4)
)
returning 1
