-- Parameters: 1 tenant.
select * from {schema}.crons where tenant = $1 order by name
