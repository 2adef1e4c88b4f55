-- Runs are counted only while there is a limit, so a first one begins with counting those under way.
-- Parameters: 1 tenant, 2 concurrency.
insert into tenant_limits (tenant, concurrency, active)
values (?1, ?2, (select count(*) from jobs where tenant = ?1 and state = 'active'))
on conflict do update set concurrency = excluded.concurrency
