-- Parameters: 1 tenant, 2 name, 3 now.
insert into queues (tenant, name, used_at) values (?1, ?2, ?3) on conflict do nothing
