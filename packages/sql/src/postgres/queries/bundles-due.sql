-- Parameters: 1 now.
select {schema}.open_due_bundles_v1($1)
