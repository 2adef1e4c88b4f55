-- Parameters: 1 tenant, 2 name, 3 keeps (0 or 1).
insert into queues (tenant, name, keeps) values (?1, ?2, ?3) on conflict do update set keeps = excluded.keeps
