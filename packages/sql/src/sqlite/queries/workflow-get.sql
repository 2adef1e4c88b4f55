-- Parameters: 1 tenant, 2 id.
select * from workflows where tenant = ?1 and id = ?2
