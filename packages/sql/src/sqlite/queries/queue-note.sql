-- Parameters: 1 tenant, 2 name.
insert into queues (tenant, name, paused) values (?1, ?2, 0) on conflict do nothing
