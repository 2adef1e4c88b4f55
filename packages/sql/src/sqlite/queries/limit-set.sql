-- Parameters: 1 tenant, 2 key, 3 concurrency.
insert into limits (tenant, key, concurrency, holders) values (?1, ?2, ?3, 0)
on conflict do update set concurrency = excluded.concurrency
