-- Parameters: 1 tenant, 2 name.
select 1 from queues where tenant = ?1 and name = ?2 and paused = 1
