-- Where there is no record, or one that was removed or has expired, whose version the new one exceeds.
-- Parameters: 1 tenant, 2 kind, 3 id, 4 value, 5 expires_at, 6 now.
insert into records (tenant, kind, id, version, value, created_at, updated_at, expires_at)
values (?1, ?2, ?3, max(1, ?6), ?4, ?6, ?6, ?5)
on conflict do update set
  version = max(records.version + 1, ?6), value = ?4, created_at = ?6, updated_at = ?6, expires_at = ?5
  where records.value is null or records.expires_at <= ?6
returning tenant, kind, id, version, value, created_at, updated_at, expires_at
