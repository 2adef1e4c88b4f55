-- Parameters: 1 tenant, 2 ids.
select {schema}.open_bundles_v1($1, $2)
