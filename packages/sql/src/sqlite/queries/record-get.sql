-- Parameters: 1 tenant, 2 kind, 3 id, 4 now.
select tenant, kind, id, version, value, created_at, updated_at, expires_at
from records
where tenant = ?1 and kind = ?2 and id = ?3 and value is not null and (expires_at is null or expires_at > ?4)
