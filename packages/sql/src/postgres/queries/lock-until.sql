-- Parameters: 1 name.
select until from {schema}.locks where name = $1
