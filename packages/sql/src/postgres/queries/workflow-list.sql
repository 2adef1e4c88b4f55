-- Newest first.
-- Parameters: 1 tenant, 2 id to continue behind or null, 3 limit.
select * from {schema}.workflows where tenant = $1 and ($2::text is null or id < $2) order by id desc limit $3
