-- Where there is no record, or one that was removed or has expired, whose version the new one exceeds.
-- Parameters: 1 tenant, 2 kind, 3 id, 4 value, 5 expires_at, 6 now, 7 mark.
insert into {schema}.records as r (tenant, kind, id, version, value, created_at, updated_at, expires_at, mark)
values ($1, $2, $3, greatest(1, $6::bigint), $4, $6, $6, $5, $7)
on conflict (tenant, kind, id) do update set
  version = greatest(r.version + 1, excluded.version), value = excluded.value, created_at = excluded.created_at,
  updated_at = excluded.updated_at, expires_at = excluded.expires_at, mark = excluded.mark
  where r.value is null or r.expires_at <= excluded.updated_at
returning tenant, kind, id, version, value, created_at, updated_at, expires_at
