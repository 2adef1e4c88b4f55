-- Parameters: 1 tenants, 2 kinds, 3 ids, 4 now.
select r.mark, r.tenant, r.kind, r.id, r.version, r.value, r.created_at, r.updated_at, r.expires_at
from unnest($1::text[], $2::text[], $3::text[]) as k (tenant, kind, id)
join {schema}.records r on r.tenant = k.tenant and r.kind = k.kind and r.id = k.id
where r.value is not null and (r.expires_at is null or r.expires_at > $4)
