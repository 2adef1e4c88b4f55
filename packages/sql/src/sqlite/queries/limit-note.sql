-- Makes a key known.
-- Parameters: 1 tenant, 2 key.
insert into limits (tenant, key) values (?1, ?2) on conflict do nothing
