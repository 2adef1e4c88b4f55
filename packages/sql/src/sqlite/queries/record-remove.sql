-- Parameters: 1 tenant, 2 kind, 3 id, 4 now, 5 the version that it must have or null.
update records set value = null, expires_at = ?4
where tenant = ?1 and kind = ?2 and id = ?3 and (?5 is null or version = ?5)
  and value is not null and (expires_at is null or expires_at > ?4)
