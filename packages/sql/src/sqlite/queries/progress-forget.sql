-- Parameters: 1 tenant, 2 id of a job that is no more.
delete from progress where tenant = ?1 and id = ?2
