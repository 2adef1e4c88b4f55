-- Parameters: 1 tenant, 2 key, 3 job id.
insert into unique_keys (tenant, key, job_id) values (?1, ?2, ?3) on conflict do update set job_id = excluded.job_id
