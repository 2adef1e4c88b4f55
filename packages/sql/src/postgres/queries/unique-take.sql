-- Parameters: 1 tenants, 2 keys, 3 job ids.
update {schema}.unique_keys k set job_id = x.job_id
from unnest($1::text[], $2::text[], $3::uuid[]) as x (tenant, key, job_id)
where k.tenant = x.tenant and k.key = x.key
