-- Parameters: as of claim_v1.
select {schema}.claim_v1($1, $2, $3, $4, $5, $6, $7, $8, $9)
