-- What keeps new jobs of one tenant out: their ids (1) or their idempotency keys (2) are taken.
-- Parameters: 1 tenant, 2 ids, 3 idempotency keys.
select i.n::int - 1, 1, i.id
from unnest($2::uuid[]) with ordinality as i (id, n)
cross join lateral (select 1 from {schema}.job_bodies b where b.tenant = $1 and b.id = i.id limit 1) b
union all
select i.n::int - 1, 2, k.job_id
from unnest($3::text[]) with ordinality as i (key, n)
cross join lateral (select job_id from {schema}.idempotency_keys k where k.tenant = $1 and k.key = i.key limit 1) k
