-- Parameters: 1 tenant, 2 kind, 3 first id, 4 id that ends the range, 5 now, 6 limit.
select tenant, kind, id, version, value, created_at, updated_at, expires_at
from records
where tenant = ?1 and kind = ?2 and id >= ?3 and id < ?4 and value is not null and (expires_at is null or expires_at > ?5)
order by id limit ?6
