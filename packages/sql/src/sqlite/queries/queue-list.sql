-- Parameters: 1 tenant.
select name, paused from queues where tenant = ?1 order by name
