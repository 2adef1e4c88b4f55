-- Parameters: 1 ended before, 2 dead letters that ended before, 3 limit.
select {schema}.prune_v1($1, $2, $3)
