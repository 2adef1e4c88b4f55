-- Parameters: 1 tenant, 2 name.
select * from crons where tenant = ?1 and name = ?2
