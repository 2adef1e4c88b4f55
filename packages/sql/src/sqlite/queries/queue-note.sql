-- Parameters: 1 tenant, 2 name.
insert into queues (tenant, name) values (?1, ?2) on conflict do nothing
