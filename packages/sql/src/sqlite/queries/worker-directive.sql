-- Parameters: 1 tenant, 2 id.
select directive from workers where tenant = ?1 and id = ?2
