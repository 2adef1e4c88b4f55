-- The tenants that have queues.
-- Parameters: 1 behind which one (null: all), 2 limit.
select distinct tenant from queues where ?1 is null or tenant > ?1 order by tenant limit ?2
