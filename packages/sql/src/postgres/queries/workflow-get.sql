-- Parameters: 1 tenant, 2 id.
select * from {schema}.workflows where tenant = $1 and id = $2
