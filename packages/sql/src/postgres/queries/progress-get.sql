-- Parameters: 1 tenants, 2 ids.
select p.tenant, p.id, p.run, p.number, p.sequence, p.fraction, p.data, p.checkpoint, p.at
from unnest($1::text[], $2::uuid[]) as k (tenant, id)
cross join lateral (select * from {schema}.progress p where p.tenant = k.tenant and p.id = k.id limit 1) p
