-- Parameters: as of extend_v1.
select n, lease_until from {schema}.extend_v1($1, $2, $3, $4, $5, $6, $7)
