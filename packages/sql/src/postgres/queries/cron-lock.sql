-- Parameters: 1 tenant, 2 name.
select * from {schema}.crons where tenant = $1 and name = $2 for update
