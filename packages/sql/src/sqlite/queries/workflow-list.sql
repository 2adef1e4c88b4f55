-- Newest first.
-- Parameters: 1 tenant, 2 id to continue behind or null, 3 limit.
select * from workflows where tenant = ?1 and (?2 is null or id < ?2) order by id desc limit ?3
