-- Parameters: 1 tenant, 2 id.
select * from jobs where tenant = ?1 and id = ?2
