-- Parameters: as of claim_by_id_v1.
select n, status, {job.columns} from {schema}.claim_by_id_v1($1, $2, $3, $4, $5, $6)
