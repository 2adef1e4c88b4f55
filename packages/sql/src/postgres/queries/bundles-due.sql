-- Parameters: 1 now, 2 limit.
select {schema}.open_due_bundles_v1($1, $2)
