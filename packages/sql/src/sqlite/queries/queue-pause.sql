-- Parameters: 1 tenant, 2 name.
insert into queues (tenant, name, paused) values (?1, ?2, 1) on conflict do update set paused = 1
