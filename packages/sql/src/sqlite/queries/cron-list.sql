-- Parameters: 1 tenant.
select * from crons where tenant = ?1 order by name
